// What a row prints: its figures as a table, then each bound and whether it holds.

const pad = (cells, widths) =>
  cells.map((cell, i) => i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])).join("  ")

/** A table whose first row is its head. */
export const table = (rows) => {
  const widths = rows[0].map((_, i) => Math.max(...rows.map((row) => row[i].length)))
  for (const row of rows) console.log(`  ${pad(row, widths)}`)
}

const decimals = (value) => value < 0.1 ? 3 : 2

/** A bound from above; answers whether it holds. */
export const bound = (what, value, limit, unit = "") => {
  const holds = value <= limit
  console.log(
    `  ${holds ? "holds" : "MISSED"}: ${what} ${value.toFixed(decimals(value))}${unit} (reach: <= ${
      limit.toFixed(decimals(limit))
    }${unit})`
  )
  return holds
}

/** A bound from below; answers whether it holds. */
export const reaches = (what, value, least) => {
  const holds = value >= least
  console.log(`  ${holds ? "holds" : "MISSED"}: ${what} ${value.toFixed(2)} (reach: >= ${least.toFixed(2)})`)
  return holds
}

export const micros = (value) => `${value.toFixed(0)} us`
export const perSecond = (value) => `${value.toFixed(0)}/s`
export const mebibytes = (bytes) => `${(bytes / 1024 / 1024).toFixed(1)} MB`
export const millis = (value) => `${value.toFixed(0)} ms`

/** A ratio the way people say it: `1/12` below a half, `1.30` above. */
export const ratio = (value) => value < 0.2 ? `1/${(1 / value).toFixed(1)}` : value.toFixed(2)
