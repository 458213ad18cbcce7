// Builds the call screen: `node build.mjs [--out FOLDER]`, or `--tests` for the tests of its logic.
// The output depends on the sources and the lock file alone, so it can be compared byte for byte.

import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const { values: options } = parseArgs({
  options: {
    out: { type: "string", default: join(here, "dist") },
    tests: { type: "boolean", default: false },
  },
});

const banner = "Built from ui/component/src by build.mjs: change it there.";
const shared = {
  absWorkingDir: here,
  bundle: true,
  charset: "utf8",
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
};

if (options.tests) {
  const tests = readdirSync(join(here, "src"), { recursive: true })
    .map(String)
    .filter((path) => path.endsWith(".test.ts"));
  await build({
    ...shared,
    entryPoints: tests.map((path) => join("src", path)),
    outdir: "build/tests",
    outExtension: { ".js": ".mjs" },
    platform: "node",
    sourcemap: "inline",
  });
} else {
  await build({
    ...shared,
    // Streamlit takes a text of one line for the name of a file; the banner makes it two.
    banner: { js: `// ${banner}`, css: `/* ${banner} */` },
    entryPoints: { call: "src/main.tsx", styles: "src/styles.css" },
    legalComments: "none",
    minify: true,
    outdir: options.out,
    target: ["chrome111", "firefox113", "safari16.4"],
  });
}
