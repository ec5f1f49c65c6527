// The floor: node's https and fs streams with a hash between them, and nothing around: `CA_FILE`, then steps in lines of JSON.
import { createHash } from "node:crypto"
import { createReadStream, createWriteStream, readFileSync, statSync } from "node:fs"
import { Agent, request } from "node:https"
import { Transform } from "node:stream"
import { pipeline } from "node:stream/promises"
import { answers } from "./answers.mjs"

const agent = new Agent({ keepAlive: true, ca: readFileSync(process.argv[2], "utf8") })
const highWaterMark = 256 * 1024

const hashing = () => {
  const hash = createHash("sha256")
  const through = new Transform({
    highWaterMark,
    transform: (chunk, _, done) => {
      hash.update(chunk)
      done(null, chunk)
    }
  })
  return { through, digest: () => hash.digest("hex") }
}

const answered = (sent) =>
  new Promise((resolve, reject) => {
    sent.once("response", resolve)
    sent.once("error", reject)
  })

await answers({
  upload: async ({ file, object }) => {
    const { size } = statSync(file)
    const { url } = object.write
    const sent = request(url, { agent, method: "PUT", headers: { "content-length": size } })
    const response = answered(sent)
    const { digest, through } = hashing()
    await pipeline(createReadStream(file, { highWaterMark }), through, sent)
    ;(await response).resume()
    return { size_bytes: size, sha256: digest() }
  },
  download: async ({ object, target }) => {
    const sent = request(object.read.url, { agent })
    const response = answered(sent)
    sent.end()
    const { digest, through } = hashing()
    await pipeline(await response, through, createWriteStream(target, { highWaterMark }))
    return { sha256: digest() }
  }
})
