/** The stand-in for a dispatch namespace: it runs what wrangler deploys, and our uploads equal wrangler's. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { NamespaceApi } from "../../src/sandbox/runners/namespace-api.ts";
import { NAMESPACE, serveNamespace } from "../support/namespace/worker.ts";
import { type Finished, ROOT, run } from "./processes.ts";

const WRANGLER = path.join(ROOT, "node_modules/wrangler/bin/wrangler.js");

const directory = await mkdtemp(path.join(tmpdir(), "atrium-namespace-"));
const served = await serveNamespace();

afterAll(async () => {
  await served.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Deploys these modules with wrangler, whose API is the stand-in; the first module is the main one. */
async function deploy(name: string, modules: Record<string, string>, config: object = {}): Promise<Finished> {
  for (const [file, text] of Object.entries(modules)) await writeFile(path.join(directory, file), text);
  const file = path.join(directory, "wrangler.json");
  const [main] = Object.keys(modules);
  await writeFile(file, JSON.stringify({ name, main, compatibility_date: "2026-01-01", ...config }));
  const args = [WRANGLER, "deploy", "--config", file, "--dispatch-namespace", NAMESPACE.namespace];
  return run(process.execPath, args, {
    cwd: directory,
    env: {
      CLOUDFLARE_API_BASE_URL: served.apiUrl,
      CLOUDFLARE_API_TOKEN: NAMESPACE.token,
      CLOUDFLARE_ACCOUNT_ID: NAMESPACE.accountId,
      WRANGLER_HIDE_BANNER: "true",
      WRANGLER_SEND_METRICS: "false",
      WRANGLER_WRITE_LOGS: "false",
      NO_COLOR: "1",
    },
  });
}

const greeter = (word: string) => ({
  "index.js": `export default { fetch: (request, env) => new Response("${word} " + env.WHO) };`,
});

const ours = () =>
  new NamespaceApi(
    { ...NAMESPACE, apiUrl: served.apiUrl },
    { fetch, now: Date.now, random: Math.random, pause: () => Promise.resolve() },
  );

describe("wrangler deploy --dispatch-namespace", () => {
  it("creates a script that runs with its variables, and replaces it with the next deploy", async () => {
    for (const word of ["Hello", "Welcome"]) {
      const { exitCode, stderr } = await deploy("greeter", greeter(word), { vars: { WHO: "Ada" } });
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(await served.dispatch("greeter", "/")).toEqual({ status: 200, text: `${word} Ada` });
    }
  });

  it("reports the error in a module", async () => {
    const broken = { "index.js": "export default { fetch() { return new Response(missing); } };\nthrow 1;" };
    const { exitCode, stdout, stderr } = await deploy("broken", broken);
    expect(exitCode).toBe(1);
    expect(stdout + stderr).toContain("[code: 10021]");
    expect(await served.dispatch("broken", "/")).toEqual({ status: 500, text: "Worker not found." });
  });
});

/** Calls the stand-in's API. */
async function ask<Result>(method: string, path: string, body?: BodyInit): Promise<Result> {
  const { accountId, namespace, token } = NAMESPACE;
  const url = `${served.apiUrl}/accounts/${accountId}/workers/dispatch/namespaces/${namespace}/scripts${path}`;
  const response = await fetch(url, {
    method,
    headers: { Authorization: `Bearer ${token}` },
    ...(body && { body }),
  });
  const { success, result, errors } = (await response.json()) as {
    success: boolean;
    result: Result;
    errors: { code: number; message: string }[];
  };
  if (!success) throw new Error(`${errors[0]?.code}: ${errors[0]?.message}`);
  return result;
}

describe("the API of the stand-in", () => {
  const secret = JSON.stringify({ name: "WHO", text: "Bo", type: "secret_text" });

  it("never returns a secret, and keeps it across deploys until it is deleted", async () => {
    expect(await deploy("keeper", greeter("Hello"))).toMatchObject({ exitCode: 0 });
    await ask("PUT", "/keeper/secrets", secret);
    expect((await served.dispatch("keeper", "/")).text).toBe("Hello Bo");
    expect(await ask("GET", "/keeper/secrets")).toEqual([{ name: "WHO", type: "secret_text" }]);
    expect(JSON.stringify(await ask("GET", "/keeper/settings"))).not.toContain("Bo");
    expect(await deploy("keeper", greeter("Welcome"))).toMatchObject({ exitCode: 0 });
    expect((await served.dispatch("keeper", "/")).text).toBe("Welcome Bo");
    await ask("DELETE", "/keeper/secrets/WHO");
    expect((await served.dispatch("keeper", "/")).text).toBe("Welcome undefined");
  });

  it("lets an upload inherit existing bindings, and no others", async () => {
    const upload = (name: string) => {
      const metadata = {
        main_module: "index.js",
        compatibility_date: "2026-01-01",
        bindings: [{ type: "inherit", name }],
      };
      const form = new FormData();
      form.append("metadata", JSON.stringify(metadata));
      const [[file, text]] = Object.entries(greeter("Again")) as [[string, string]];
      form.append(file, new File([text], file, { type: "application/javascript+module" }));
      return ask<object>("PUT", "/heir?bindings_inherit=strict", form);
    };
    expect(await deploy("heir", greeter("Hello"), { vars: { WHO: "Ada" } })).toMatchObject({ exitCode: 0 });
    expect(await upload("WHO")).toMatchObject({ id: "heir", script: expect.stringContaining("Again") });
    expect((await served.dispatch("heir", "/")).text).toBe("Again Ada");
    await expect(upload("OTHER")).rejects.toThrow("10021: There is no binding OTHER to inherit");
  });

  it("lists and deletes scripts by their tags", async () => {
    for (const name of ["red", "green"]) {
      expect(await deploy(name, greeter("Hello"))).toMatchObject({ exitCode: 0 });
      const form = new FormData();
      form.append("settings", JSON.stringify({ tags: ["color", name] }));
      await ask("PATCH", `/${name}/settings`, form);
    }
    const idsOf = async (tags: string) =>
      (await ask<{ id: string }[]>("GET", `?tags=${tags}`)).map(({ id }) => id);
    expect(await ask("GET", "/red/tags")).toEqual(["color", "red"]);
    expect(await idsOf("color:yes")).toEqual(["green", "red"]);
    expect(await idsOf("color:yes,red:no")).toEqual(["green"]);
    await ask("DELETE", "?tags=color:yes,red:no");
    expect(await idsOf("color:yes")).toEqual(["red"]);
    await expect(ask("GET", "/green")).rejects.toThrow("10092");
    await expect(ask("DELETE", "/green")).rejects.toThrow("10092");
  });
});

describe("our upload", () => {
  const modules = {
    "main.js": 'import { word } from "./word.js"; export default { fetch: () => new Response(word) };',
    "word.js": 'export const word = "Grüße";',
  };
  const upload = {
    mainModule: "main.js",
    modules,
    compatibilityDate: "2026-07-01",
    compatibilityFlags: ["nodejs_als"],
    limits: { cpuMs: 50, subRequests: 400 },
    tags: ["account-1", "workflow-2"],
  };

  it("equals wrangler's upload, field by field", async () => {
    const { exitCode, stderr } = await deploy("theirs", modules, {
      compatibility_date: upload.compatibilityDate,
      compatibility_flags: upload.compatibilityFlags,
      limits: { cpu_ms: 50, subrequests: 400 },
      observability: { enabled: false },
      no_bundle: true,
      find_additional_modules: true,
      rules: [{ type: "ESModule", globs: ["word.js"] }],
    });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    await ours().put("ours", upload);
    const [theirs, made] = [await served.kept("theirs"), await served.kept("ours")];
    expect(made?.modules).toEqual(theirs?.modules);
    expect(made?.metadata.tags).toEqual(upload.tags);
    // Only wrangler says how scripts of the same name are replaced; only we use tags.
    const { code_update_strategy, keep_bindings, package_dependencies, ...said } = theirs?.metadata ?? {};
    expect({ ...made?.metadata, tags: [] }).toEqual(said);
    expect(await served.dispatch("ours", "/")).toEqual(await served.dispatch("theirs", "/"));
    expect((await served.dispatch("ours", "/")).text).toBe("Grüße");
  });

  it("is undone by a deletion, which may be repeated", async () => {
    await ours().put("gone", upload);
    expect((await served.dispatch("gone", "/")).status).toBe(200);
    await ours().delete("gone");
    await ours().delete("gone");
    expect(await served.dispatch("gone", "/")).toEqual({ status: 500, text: "Worker not found." });
  });
});
