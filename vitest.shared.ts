import * as path from "node:path"
import type { ViteUserConfig } from "vitest/config"

const conditions = ["@effect-agentenv/source"]

const config: ViteUserConfig = {
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    setupFiles: [path.join(import.meta.dirname, "vitest.setup.ts")],
    sequence: { concurrent: true },
    include: ["test/**/*.test.ts"]
  }
}

export default config
