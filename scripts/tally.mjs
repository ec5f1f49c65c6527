// Adds up what vitest (vitest.json) and the conformance runner (*.log) counted in a directory: 'N passed, N failed, N skipped'.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const [directory] = process.argv.slice(2)
const counts = { passed: 0, failed: 0, skipped: 0 }
for (const name of readdirSync(directory)) {
  const text = readFileSync(join(directory, name), "utf8")
  if (name === "vitest.json") {
    const report = JSON.parse(text)
    counts.passed += report.numPassedTests
    counts.failed += report.numFailedTests
    counts.skipped += report.numPendingTests + report.numTodoTests
  } else {
    for (const [, passed, failed, skipped] of text.matchAll(/^(\d+) passed, (\d+) failed, (\d+) skipped$/gm)) {
      counts.passed += Number(passed)
      counts.failed += Number(failed)
      counts.skipped += Number(skipped)
    }
  }
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
