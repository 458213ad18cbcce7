// Builds the call screen: `node build.mjs [--out FOLDER]`; `--tests` runs the tests of its logic.
// The output depends on the sources and the lock file alone, so it can be compared byte for byte.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
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
  const outdir = join(here, "build", "tests");
  rmSync(outdir, { recursive: true, force: true });
  await build({
    ...shared,
    entryPoints: tests.map((path) => join("src", path)),
    outdir,
    outExtension: { ".js": ".mjs" },
    platform: "node",
    sourcemap: "inline",
  });
  const built = tests.map((path) => join(outdir, path.replace(/\.ts$/, ".mjs")));
  const { status } = spawnSync(process.execPath, ["--test", ...built], { stdio: "inherit" });
  process.exitCode = status ?? 1;
} else {
  const { metafile } = await build({
    ...shared,
    // Streamlit takes a text of one line for the name of a file; the banner makes it two.
    banner: { js: `// ${banner}`, css: `/* ${banner} */` },
    entryPoints: { call: "src/main.tsx", replay: "src/replay.tsx", styles: "src/styles.css" },
    legalComments: "none", // licences.txt has them whole
    metafile: true,
    minify: true,
    outdir: options.out,
    target: ["chrome111", "firefox113", "safari16.4"],
  });
  writeFileSync(join(options.out, "licences.txt"), licences(Object.keys(metafile.inputs)));
}

/** The licence of every package that went into the built file, and of what those were built of. */
function licences(inputs) {
  const name = (path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1];
  const packages = new Map();
  const add = (one) => {
    const folder = join(here, "node_modules", one);
    if (packages.has(one) || !existsSync(folder)) return;
    const { version, license, dependencies } = JSON.parse(read(folder, "package.json"));
    const file = readdirSync(folder).find((candidate) => /^licen[cs]e/i.test(candidate));
    const text = file ? `\n${read(folder, file).trim()}\n` : "";
    packages.set(one, `${one} ${version} (${license})\n${text}`);
    Object.keys(dependencies ?? {}).forEach(add);
  };
  new Set(inputs.map(name).filter(Boolean)).forEach(add);
  const sorted = [...packages.keys()].sort();
  return sorted.map((one) => packages.get(one)).join(`\n${"-".repeat(80)}\n\n`);
}

function read(folder, file) {
  return readFileSync(join(folder, file), "utf8");
}
