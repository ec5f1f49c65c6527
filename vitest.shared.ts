import * as path from "node:path"
import type { ViteUserConfig } from "vitest/config"

const conditions = ["@effect-agentenv/source"]

const config: ViteUserConfig = {
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    setupFiles: [path.join(import.meta.dirname, "vitest.setup.ts")],
    // property tests on a busy machine take long; a hanging test ends anyway
    testTimeout: 30_000,
    sequence: { concurrent: true },
    include: ["test/**/*.test.ts"]
  }
}

export default config
