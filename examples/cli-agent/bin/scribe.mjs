#!/usr/bin/env node
// A command-line program as one finds them, which knows nothing of agents: it reads a text, says what it does line by line as JSON,
// and writes the text in a style. A line `fetch NAME` stands for what that server of its configuration answers, which it asks in a
// process of its own.
//
//   scribe [--style plain|upper] [--max-words N] [--mcp-config FILE] < text
//
// SCRIBE_TOKEN must be set; SCRIBE_SIGNATURE is written below the text.
// Exit codes: 0 done, 2 bad arguments, 3 no token, 4 too many words, 1 anything else.
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { text } from "node:stream/consumers"
import { parseArgs } from "node:util"

const say = (type, text) => console.log(JSON.stringify({ type, text }))

const stop = (code, message) => {
  console.error(`scribe: ${message}`)
  process.exit(code)
}

const options = () => {
  try {
    return parseArgs({
      options: {
        "style": { type: "string", default: "plain" },
        "max-words": { type: "string", default: "200" },
        "mcp-config": { type: "string" },
        "fetch": { type: "string" }
      }
    }).values
  } catch (error) {
    return stop(2, error.message)
  }
}

const { fetch: name, "max-words": maxWords, "mcp-config": file, style } = options()
const servers = file === undefined ? {} : JSON.parse(readFileSync(file, "utf8")).mcpServers

const fetched = async (name) => {
  say("progress", `Asking ${name}`)
  const self = spawn(process.execPath, [import.meta.filename, "--fetch", name, "--mcp-config", file ?? ""], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const [answer, code] = await Promise.all([text(self.stdout), new Promise((resolve) => self.on("close", resolve))])
  if (code !== 0) throw new Error(`${name} can't be asked`)
  return answer
}

if (name !== undefined) {
  const { headers, url } = servers[name]
  process.stdout.write(await (await fetch(url, { headers })).text())
} else {
  if (style !== "plain" && style !== "upper") stop(2, `there is no style '${style}'`)
  if (!process.env["SCRIBE_TOKEN"]) stop(3, "SCRIBE_TOKEN is not set")
  const given = await text(process.stdin)
  const words = given.split(/\s+/).filter((word) => word !== "").length
  say("progress", `Reading ${words} words`)
  if (words > Number(maxWords)) stop(4, `more than ${maxWords} words`)

  const lines = await Promise.all(
    given.split("\n").map((line) => line.startsWith("fetch ") ? fetched(line.slice(6)) : line)
  )
  const signature = process.env["SCRIBE_SIGNATURE"]
  const whole = [...lines, ...signature === undefined ? [] : [`-- ${signature}`]].join("\n")
  say("result", style === "upper" ? whole.toUpperCase() : whole)
}
