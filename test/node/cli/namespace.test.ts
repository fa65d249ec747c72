/** Uploads to a dispatch namespace equal wrangler's. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { NamespaceApi } from "../../../src/sandbox/runners/namespace-api.ts";
import { NAMESPACE, serveNamespace } from "../../support/namespace/worker.ts";
import { ROOT, run } from "./processes.ts";

const WRANGLER = path.join(ROOT, "node_modules/wrangler/bin/wrangler.js");

const directory = await mkdtemp(path.join(tmpdir(), "atrium-namespace-"));
const served = await serveNamespace();

afterAll(async () => {
  await served.stop();
  await rm(directory, { recursive: true, force: true });
});

const upload = {
  mainModule: "main.js",
  modules: {
    "main.js": 'import { word } from "./word.js"; export default { fetch: () => new Response(word) };',
    "word.js": 'export const word = "Grüße";',
  },
  compatibilityDate: "2026-07-01",
  compatibilityFlags: ["nodejs_als"],
  limits: { cpuMs: 50, subRequests: 400 },
  tags: ["account-1", "workflow-2"],
};

/** The same upload as a configuration of wrangler. */
const config = {
  name: "theirs",
  main: upload.mainModule,
  compatibility_date: upload.compatibilityDate,
  compatibility_flags: upload.compatibilityFlags,
  limits: { cpu_ms: 50, subrequests: 400 },
  observability: { enabled: false },
  no_bundle: true,
  find_additional_modules: true,
  rules: [{ type: "ESModule", globs: ["word.js"] }],
};

const env = {
  CLOUDFLARE_API_BASE_URL: served.apiUrl,
  CLOUDFLARE_API_TOKEN: NAMESPACE.token,
  CLOUDFLARE_ACCOUNT_ID: NAMESPACE.accountId,
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_WRITE_LOGS: "false",
  NO_COLOR: "1",
};

it("our upload equals wrangler's, field by field", async () => {
  for (const [file, text] of Object.entries(upload.modules))
    await writeFile(path.join(directory, file), text);
  const file = path.join(directory, "wrangler.json");
  await writeFile(file, JSON.stringify(config));
  const args = [WRANGLER, "deploy", "--config", file, "--dispatch-namespace", NAMESPACE.namespace];
  const { exitCode, stderr } = await run(process.execPath, args, { cwd: directory, env });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  const ports = { fetch, now: Date.now, random: Math.random, pause: () => Promise.resolve() };
  await new NamespaceApi({ ...NAMESPACE, apiUrl: served.apiUrl }, ports).put("ours", upload);

  const [theirs, made] = [await served.kept("theirs"), await served.kept("ours")];
  expect(made?.modules).toEqual(theirs?.modules);
  expect(made?.metadata.tags).toEqual(upload.tags);
  // Only wrangler says how scripts of the same name are replaced; only we use tags.
  const { code_update_strategy, keep_bindings, package_dependencies, ...said } = theirs?.metadata ?? {};
  expect({ ...made?.metadata, tags: [] }).toEqual(said);
  const answers = [await served.dispatch("ours", "/"), await served.dispatch("theirs", "/")];
  expect(answers).toEqual(Array(2).fill({ status: 200, text: "Grüße" }));
});
