import * as Duration from "effect/Duration"
import type * as Episode from "../Episode.ts"

/** Longer arguments hide the calls around them. */
const WIDTH = 60

const clipped = (text: string): string => (text.length > WIDTH ? `${text.slice(0, WIDTH - 1)}…` : text)

const mark = (ok: boolean): string => (ok ? "ok  " : "FAIL")

const duration = (value: Duration.Duration): string => {
  const millis = Duration.toMillis(value)
  return millis < 1000 ? `${Math.round(millis)} ms` : `${(millis / 1000).toFixed(1)} s`
}

const indented = (title: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)]

/** @internal */
export const format = (report: Episode.Report<unknown>): string => {
  const width = Math.max(0, ...Object.keys(report.scores).map((name) => name.length))
  return [
    `${report.name}${report.seed === undefined ? "" : ` (seed ${report.seed})`}: score ${report.score.toFixed(3)}`,
    ...indented(
      "steps",
      report.steps.map((each) => `${mark(each.ok)} ${each.step.padEnd(5)} ${duration(each.duration)}`)
    ),
    ...indented(
      "calls",
      report.calls.map((each) =>
        `${mark(each.ok)} ${each.name} ${clipped(JSON.stringify(each.args))} ${duration(each.duration)}`
      )
    ),
    ...indented(
      "scores",
      Object.entries(report.scores).map(([name, { detail, score, weight }]) =>
        `${name.padEnd(width)} ${score.toFixed(3)} x ${weight}${detail === undefined ? "" : `  ${detail}`}`
      )
    )
  ].join("\n")
}
