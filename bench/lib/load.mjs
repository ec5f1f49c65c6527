// One load on several servers, in turns of a thousand requests, so that whatever else the machine does meets them all alike.
import { agent, inParallel } from "./http.mjs"

const connections = 8
const warmUp = 500
const turn = 1_000

/**
 * `prepare(server, agent)` answers the function that sends one request. Answers for each server and each count of `upTo` what the
 * requests since the count before cost: `{ cpu }` in microseconds a request, `{ rate }` in requests a second.
 */
export const compareLoads = async (servers, upTo, prepare) => {
  const sides = []
  for (const server of servers) {
    const own = agent(connections)
    const task = await prepare(server, own)
    await inParallel(warmUp, connections, task)
    sides.push({ server, agent: own, task, share: server.contender.share ?? 1 })
  }
  const phases = []
  let done = 0
  for (const end of upTo) {
    const sums = sides.map(() => ({ cpu: 0, seconds: 0, requests: 0 }))
    for (; done < end; done += turn) {
      for (const [i, { server, share, task }] of sides.entries()) {
        const count = turn / share
        const cpu = server.cpu()
        const begun = performance.now()
        await inParallel(count, connections, task)
        sums[i].seconds += (performance.now() - begun) / 1_000
        sums[i].cpu += server.cpu() - cpu
        sums[i].requests += count
      }
    }
    phases.push(sums.map(({ cpu, requests, seconds }) => ({ cpu: cpu / requests, rate: requests / seconds })))
  }
  for (const side of sides) side.agent.destroy()
  return phases
}
