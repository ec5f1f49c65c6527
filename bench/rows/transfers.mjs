// The row of transfers: a large object each way over TLS, the memory that it takes, and many small ones through one namespace.
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bundledTransfers } from "../lib/bundle.mjs"
import { python } from "../lib/reference.mjs"
import { bound, mebibytes, millis, ratio, reaches, table } from "../lib/report.mjs"
import { startWorker } from "../lib/worker.mjs"

const bench = join(import.meta.dirname, "..")
const transfersOfPython = join(bench, "../interop/peers/python/transfers.py")

const MiB = 1024 ** 2
const media_type = "application/octet-stream"
const expires_at = () => new Date(Date.now() + 3_600_000).toISOString()

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]

const sizes = ({ full, quick }) =>
  full ? { moved: 1024 * MiB, held: 4096 * MiB } : quick ? { moved: 64 * MiB, held: 256 * MiB } : {
    moved: 256 * MiB,
    held: 1024 * MiB
  }

/** What is asked of every side; `size` bytes of the file are uploaded, which takes no room since nothing is written to it. */
const stepsAt = (store, directory) => {
  const source = join(directory, "source")
  const target = join(directory, "target")
  writeFileSync(source, "")
  return {
    upload: (size) => {
      truncateSync(source, size)
      const write = { kind: "http-put", url: `${store}/object`, expires_at: expires_at() }
      return { step: "upload", file: source, object: { media_type, max_bytes: size, write } }
    },
    download: (size) => {
      const read = { kind: "http-get", url: `${store}/bytes/${size}`, expires_at: expires_at() }
      return { step: "download", target, object: { media_type, max_bytes: size, read } }
    },
    small: (count, uploader) => ({
      step: "namespace_many",
      uploader,
      count,
      bytes: Buffer.alloc(10_240).toString("base64"),
      grant: {
        root_path: "runs/1",
        expires_at: expires_at(),
        max_objects: count,
        max_object_bytes: 10_240,
        max_total_bytes: 10_240 * count,
        write: { kind: "http-post-policy", url: `${store}/`, fields: {}, path_field: "key", file_field: "file" }
      }
    })
  }
}

const timed = async (worker, message) => {
  const cpu = worker.cpu()
  const begun = performance.now()
  await worker.ask(message)
  return { elapsed: performance.now() - begun, cpu: (worker.cpu() - cpu) / 1000 }
}

/**
 * The sides take turns, and in turn begin, so that whatever else the machine does meets them all alike; `of(i)` is how many times what
 * the first takes a side takes, in the middle of the rounds. A first round warms up.
 */
const compare = async (workers, rounds, message) => {
  for (const worker of workers) await worker.ask(message())
  const runs = []
  for (let round = 0; round < rounds; round++) {
    const figures = []
    for (let turn = 0; turn < workers.length; turn++) {
      const i = (round + turn) % workers.length
      figures[i] = await timed(workers[i], message())
    }
    runs.push(figures)
  }
  return {
    elapsed: (i) => median(runs.map((figures) => figures[i].elapsed)),
    cpu: (i) => median(runs.map((figures) => figures[i].cpu)),
    of: (i) => median(runs.map((figures) => figures[i].elapsed / figures[0].elapsed))
  }
}

const print = (workers, what, { cpu, elapsed, of }, size) => {
  const perSecond = (took) => size === undefined ? "" : `${(size / MiB / took * 1000).toFixed(0)} MB/s`
  table([
    [what, "takes", "rate", "CPU", "times ours"],
    ...workers.map(({ name }, i) => [
      name,
      millis(elapsed(i)),
      perSecond(elapsed(i)),
      millis(cpu(i)),
      i === 0 ? "" : ratio(of(i))
    ])
  ])
}

const measure = async (options, { plain, python, ours }, steps) => {
  const { held, moved } = sizes(options)
  const rounds = options.quick ? 3 : 9
  const workers = [ours, plain, python]
  const holds = []
  for (const [what, step] of [["upload", steps.upload], ["download", steps.download]]) {
    const figures = await compare(workers, rounds, () => step(moved))
    print(workers, `${what} of ${moved / MiB} MiB`, figures, moved)
    holds.push(
      reaches(`${what}, rate of plain streams'`, figures.of(1), 0.9),
      reaches(`${what}, rate of Python's`, figures.of(2), 1.8)
    )
  }

  const many = [ours, python]
  const count = options.quick ? 100 : 1_000
  let uploaders = 0
  const small = await compare(many, options.quick ? 1 : 3, () => steps.small(count, `${uploaders++}`))
  print(many, `${count} objects of 10 KB`, small)
  holds.push(reaches("objects of 10 KB, rate of Python's", small.of(1), 3))
  return { held, holds }
}

/** In a process of its own, which has moved something already: what code and buffers take once is not the object's. */
const memory = async (start, steps, held) => {
  const rows = []
  for (const [what, step] of [["upload", steps.upload], ["download", steps.download]]) {
    for (const make of start) {
      const worker = make()
      try {
        await worker.ask(step(1024))
        const idle = worker.resident()
        const most = await worker.peak(() => worker.ask(step(held)))
        rows.push({ name: `${worker.name}, ${what}`, idle, above: (most - idle) / MiB, own: make === start[0] })
      } finally {
        await worker.stop()
      }
    }
  }
  table([
    [`while ${held / MiB} MiB pass`, "idle", "above idle"],
    ...rows.map(({ above, idle, name }) => [name, mebibytes(idle), `${above.toFixed(1)} MB`])
  ])
  return rows.filter(({ own }) => own).map(({ above, name }) => bound(`${name}, memory above idle`, above, 64, " MB"))
}

export const transfers = async (options) => {
  const directory = mkdtempSync(join(tmpdir(), "bench-transfers-"))
  const store = startWorker("the store", process.execPath, [join(bench, "servers/objects.mjs")])
  const started = [store]
  try {
    const { ca, url } = await store.greeting()
    const authority = join(directory, "ca.pem")
    writeFileSync(authority, ca)
    const node = (name, file) => () => startWorker(name, process.execPath, [file, authority])
    const makers = {
      ours: node("ours", bundledTransfers),
      plain: node("plain streams", join(bench, "clients/plain.mjs")),
      python: () => startWorker("Python SDK", python, [transfersOfPython], { SSL_CERT_FILE: authority })
    }
    const workers = Object.fromEntries(Object.entries(makers).map(([name, make]) => [name, make()]))
    started.push(...Object.values(workers))
    const steps = stepsAt(url, directory)
    const { held, holds } = await measure(options, workers, steps)
    holds.push(...await memory([makers.ours, makers.plain], steps, held))
    return holds.every((held) => held)
  } finally {
    await Promise.all(started.map((worker) => worker.stop()))
    rmSync(directory, { recursive: true, force: true })
  }
}
