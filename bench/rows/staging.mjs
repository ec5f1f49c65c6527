// The row of the staging store: a large object put into it, and the memory that it takes.
import { mkdtempSync, rmSync } from "node:fs"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { bundledStaging } from "../lib/bundle.mjs"
import { withServers } from "../lib/process.mjs"
import { bound, mebibytes, millis, ratio, reaches, table } from "../lib/report.mjs"
import { peak } from "../lib/worker.mjs"

const MiB = 1024 ** 2
const block = Buffer.alloc(256 * 1024, "parcel")
const path = `/ext/staging/${"k".repeat(32)}/object`

const blocks = function*(size) {
  for (let left = size; left > 0; left -= block.length) yield left < block.length ? block.subarray(0, left) : block
}

const put = async (port, size) => {
  const sent = request({ host: "127.0.0.1", port, path, method: "PUT", headers: { "content-length": size } })
  const answered = new Promise((resolve, reject) => {
    sent.once("response", resolve)
    sent.once("error", reject)
  })
  await pipeline(Readable.from(blocks(size), { objectMode: false }), sent)
  const response = await answered
  response.resume()
  if (response.statusCode >= 300) throw new Error(`PUT answered ${response.statusCode}`)
}

const contender = (name, file, directory) => ({
  name,
  command: (port) => [process.execPath, [file, `${port}`, directory]],
  ready: "/health"
})

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]

const sizes = ({ full, quick }) =>
  full ? { moved: 1024 * MiB, held: 4096 * MiB } : quick ? { moved: 64 * MiB, held: 256 * MiB } : {
    moved: 256 * MiB,
    held: 1024 * MiB
  }

export const staging = async (options) => {
  const { held, moved } = sizes(options)
  const directories = [0, 1].map(() => mkdtempSync(join(tmpdir(), "bench-staging-")))
  const contenders = [
    contender("ours", bundledStaging, directories[0]),
    contender("a file write", join(import.meta.dirname, "../servers/file-write.mjs"), directories[1])
  ]
  try {
    return await withServers(contenders, async (servers) => {
      const sides = []
      for (const server of servers) {
        await put(server.port, 1024)
        const idle = server.resident()
        await put(server.port, moved)
        sides.push({ server, idle, times: [], cpu: [], most: 0 })
      }
      for (let round = 0; round < (options.quick ? 3 : 7); round++) {
        // they begin in turn
        for (const { cpu, server, times } of round % 2 === 0 ? sides : sides.toReversed()) {
          const before = server.cpu()
          const begun = performance.now()
          await put(server.port, moved)
          times.push(performance.now() - begun)
          cpu.push((server.cpu() - before) / 1_000)
        }
      }
      for (const side of sides) side.most = await peak(side.server.pid, () => put(side.server.port, held))
      const [own, floor] = sides.map(({ times }) => times)
      const paired = median(own.map((took, round) => floor[round] / took))
      const above = sides.map(({ idle, most }) => (most - idle) / MiB)
      table([
        [`PUT of ${moved / MiB} MiB`, "takes", "CPU", "times ours", "idle", `above it, ${held / MiB} MiB`],
        ...sides.map(({ cpu, idle, server, times }, i) => [
          server.contender.name,
          millis(median(times)),
          millis(median(cpu)),
          i === 0 ? "" : ratio(paired),
          mebibytes(idle),
          `${above[i].toFixed(1)} MB`
        ])
      ])
      return [
        reaches("PUT, rate of a raw file write", paired, 0.8),
        bound("memory above idle", above[0], 64, " MB")
      ].every((holds) => holds)
    })
  } finally {
    for (const directory of directories) rmSync(directory, { recursive: true, force: true })
  }
}
