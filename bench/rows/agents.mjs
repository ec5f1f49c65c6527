// The rows about tasks: what a long stream costs, what one reader that stalls does to others, and what tasks leave behind.
import { setTimeout as sleep } from "node:timers/promises"
import { ask, openStream, readStream, wires } from "../lib/a2a.mjs"
import { agentPlain, agentPlainV1, expressA2a, pythonA2a } from "../lib/contenders.mjs"
import { agent, inParallel } from "../lib/http.mjs"
import { withServers } from "../lib/process.mjs"
import { bound, mebibytes, ratio, table } from "../lib/report.mjs"

const wireOf = (contender) => contender === agentPlainV1 || contender === expressA2a ? wires["1.0"] : wires["0.3"]

const stream = async ({ contender, port }, own, count) => {
  const wire = wireOf(contender)
  await readStream(await openStream(port, own, wire, count), wire, count)
}

/** CPU of one stream in milliseconds: the least of some rounds, each of so many streams that the clock's steps don't show. */
const cpuOfStream = async (server, own, count, { rounds, times }) => {
  let least = Infinity
  for (let round = 0; round < rounds; round++) {
    const before = server.cpu()
    for (let i = 0; i < times; i++) await stream(server, own, count)
    least = Math.min(least, (server.cpu() - before) / 1_000 / times)
  }
  return least
}

export const streams = async ({ quick }) => {
  const sides = [
    { contender: agentPlain, warmUp: 20, rounds: 3, times: quick ? 10 : 30 },
    { contender: agentPlainV1, warmUp: 20, rounds: 3, times: quick ? 10 : 30 },
    { contender: pythonA2a, warmUp: 1, rounds: 2, times: 1 },
    // its cost grows with the square of the events, and one is long enough
    { contender: expressA2a, warmUp: 0, rounds: 1, times: 1, once: true }
  ]
  return withServers(sides.map(({ contender }) => contender), async (servers) => {
    const figures = []
    for (const [i, { once, warmUp, ...how }] of sides.entries()) {
      const own = agent(1)
      for (let n = 0; n < warmUp; n++) await stream(servers[i], own, 2_000)
      const short = await cpuOfStream(servers[i], own, 2_000, how)
      const long = once === true && quick ? undefined : await cpuOfStream(servers[i], own, 4_000, how)
      figures.push({ short, long })
      own.destroy()
    }
    const [old, recent, python, express] = figures
    table([
      ["CPU of a stream", "2,000 events", "4,000 events", "times", "ours is"],
      ...figures.map(({ long, short }, i) => [
        sides[i].contender.name,
        `${short.toFixed(1)} ms`,
        long === undefined ? "" : `${long.toFixed(1)} ms`,
        long === undefined ? "" : (long / short).toFixed(2),
        i === 2 ? ratio(old.short / short) : i === 3 ? ratio(recent.short / short) : ""
      ])
    ])
    return [
      bound("4,000 events, of 2,000", old.long / old.short, 2.3),
      bound("CPU of 2,000 events, of Python's", old.short / python.short, 1 / 12),
      bound("CPU of 2,000 events, of Express's", recent.short / express.short, 1 / 100)
    ].every((holds) => holds)
  })
}

/** As many streams as there are readers, who all read at once; answers how long it took and what it cost. */
const together = async (server, own, readers, count) => {
  const begun = performance.now()
  const cpu = server.cpu()
  await inParallel(readers, readers, () => stream(server, own, count))
  return { elapsed: performance.now() - begun, cpu: (server.cpu() - cpu) / 1_000 }
}

export const slowReader = async ({ quick }) => {
  const readers = 99
  const count = quick ? 200 : 500
  const stalled = quick ? 10_000 : 20_000
  return withServers([agentPlain], async ([server]) => {
    const own = agent(200)
    const wire = wireOf(agentPlain)
    await together(server, own, readers, count)
    await together(server, own, readers, count)
    const alone = []
    const beside = []
    let held = 0
    for (let round = 0; round < 3; round++) {
      alone.push(await together(server, own, readers, count))
      // its task goes on to its end; of the stream nothing is read
      const slow = await openStream(server.port, own, wire, stalled)
      slow.pause()
      beside.push(await together(server, own, readers, count))
      await sleep(500)
      const before = await server.heap()
      await readStream(slow, wire, stalled)
      held = Math.max(held, before - await server.heap())
    }
    own.destroy()
    const least = (figures, of) => Math.min(...figures.map((figure) => figure[of]))
    table([
      [`${readers} streams of ${count} events`, "takes", "CPU"],
      ...[["by themselves", alone], ["beside one that stalls", beside]].map(([what, figures]) => [
        what,
        `${least(figures, "elapsed").toFixed(0)} ms`,
        `${least(figures, "cpu").toFixed(0)} ms`
      ])
    ])
    return [
      // beside the journal, which is the task's whoever reads
      bound(`heap held for a reader ${stalled} events behind`, held / 1024 / 1024, 2, " MB"),
      // the task of the one that stalls is run meanwhile
      bound(
        "time of the others, of theirs by themselves",
        least(beside, "elapsed") / least(alone, "elapsed"),
        1 + 1.5 * stalled / (readers * count)
      )
    ].every((holds) => holds)
  })
}

export const finishedTasks = async ({ quick }) => {
  const kept = quick ? 1_000 : 10_000
  const limited = { ...agentPlain, command: (port) => agentPlain.command(port, [`${kept}`]) }
  return withServers([limited], async ([server]) => {
    const own = agent(8)
    let id = 0
    const run = (count) => inParallel(count, 8, () => ask(server.port, own, wires["0.3"], "hello", id++))
    const rows = []
    await run(kept / 10)
    const idle = await server.heap()
    for (const total of [1, 2, 5, 10]) {
      await run(total * kept - id)
      rows.push({ total: total * kept, heap: await server.heap() })
    }
    own.destroy()
    table([
      [`finished tasks, of which ${kept} are kept`, "heap", "a kept one"],
      ...rows.map(({ heap, total }) => [`${total}`, mebibytes(heap), `${((heap - idle) / 1024 / kept).toFixed(2)} KB`])
    ])
    return bound(`heap after ${10 * kept} tasks, of that after ${2 * kept}`, rows.at(-1).heap / rows[1].heap, 1.05)
  })
}
