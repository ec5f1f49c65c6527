import { expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { type InLine, Line } from "../src/internal/taskLine.ts"

interface Item extends InLine {
  readonly n: number
}

it.prop(
  "a line is left from the front and from the middle, and its first is who has stood longest",
  [FastCheck.array(FastCheck.oneof(FastCheck.constant("push"), FastCheck.constant("shift"), FastCheck.nat(60)), {
    maxLength: 400
  })],
  ([steps]) => {
    const line = new Line<Item>()
    let model: Array<Item> = []
    steps.forEach((step, n) => {
      if (step === "push") {
        const item = { n, gone: false }
        line.push(item)
        model.push(item)
      } else {
        const item = step === "shift" ? model[0] : model[Number(step)]
        if (item === undefined) return
        expect(line.remove(item)).toBe(true)
        expect(line.remove(item)).toBe(false)
        model = model.filter((other) => other !== item)
      }
      expect([line.first(), line.size]).toEqual([model[0], model.length])
    })
  }
)
