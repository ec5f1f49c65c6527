// The row of starts: from the command to the first answer, and what an idle server holds.
import { setTimeout as sleep } from "node:timers/promises"
import { expressStateful, ours, oursFromDist, pythonTools, raw } from "../lib/contenders.mjs"
import { start as startServer } from "../lib/process.mjs"
import { bound, mebibytes, millis, ratio, table } from "../lib/report.mjs"

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]

export const start = async ({ quick }) => {
  const contenders = [ours, oursFromDist, pythonTools, expressStateful, raw]
  const figures = contenders.map(() => ({ times: [], resident: [] }))
  for (let round = 0; round < (quick ? 3 : 7); round++) {
    for (const [i, contender] of contenders.entries()) {
      const server = await startServer(contender)
      try {
        await sleep(1_000)
        figures[i].times.push(server.startMillis)
        figures[i].resident.push(server.resident())
      } finally {
        await server.stop()
      }
    }
  }
  const [own, dist, python] = figures.map(({ resident, times }) => ({
    time: median(times),
    resident: median(resident)
  }))
  table([
    ["", "first answer", "of Python's", "resident idle"],
    ...figures.map(({ resident, times }, i) => [
      contenders[i].name,
      millis(median(times)),
      contenders[i] === pythonTools ? "" : ratio(median(times) / python.time),
      mebibytes(median(resident))
    ])
  ])
  return [
    bound("start of the bundle, of Python's", own.time / python.time, 0.5),
    bound("start from dist, of Python's", dist.time / python.time, 1.6),
    bound("resident idle memory of the bundle", own.resident / 1024 / 1024, 70, " MB")
  ].every((holds) => holds)
}
