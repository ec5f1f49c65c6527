// Answers lines of JSON with lines of JSON, as interop/peers/python/transfers.py does.
import { createInterface } from "node:readline"

export const answers = async (steps) => {
  for await (const line of createInterface({ input: process.stdin })) {
    const message = JSON.parse(line)
    try {
      console.log(JSON.stringify({ value: await steps[message.step](message) ?? null }))
    } catch (error) {
      console.log(JSON.stringify({ crash: String(error) }))
    }
  }
}
