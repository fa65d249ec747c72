/** The samples of the API reference are true: they compile under `strict`, and each of the SDK makes its operation's request. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import {
  type Described,
  type Entry,
  entriesOf,
  isJson,
  jsonOf,
  readDocument,
} from "@atrium/contract/openapi/described.ts";
import { exampleOf } from "@atrium/docs/examples.ts";
import { insteadOfSdk } from "@atrium/docs/operation.ts";
import { samplesOf } from "@atrium/docs/samples.ts";
import { SDK_PRELUDE, sdkSample } from "@atrium/docs/sdk-sample.ts";
import { AtriumServer } from "atrium/server";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ROOT, run } from "../cli/processes.ts";

/** Values of the names that samples use. */
const VALUES: Readonly<Record<string, unknown>> = {
  ...{ serverUrl: "https://atrium.example", accountId: "account", apiKey: "key" },
  ...{
    roomId: "room",
    userId: "user",
    customId: "custom",
    commentId: "comment",
    threadId: "thread",
    suggestionId: "suggestion",
    mentionId: "mention",
    keyId: "key-id",
  },
  ...{ personId: "person", invitationId: "invitation", requestId: "request" },
  ...{ identityId: "identity", groupId: "group", linkId: "link", notificationId: "notification" },
  ...{ webhookId: "webhook", deliveryId: "delivery", workflowId: "workflow", executionId: "execution" },
  ...{ version: 3, update: new Uint8Array([0, 0]), file: new File(["x"], "plan.png"), filename: "plan.png" },
};
const typeOf = (value: unknown): string =>
  value instanceof Uint8Array ? "Uint8Array" : value instanceof File ? "File" : typeof value;
/** Names in samples of `fetch`, which writes every parameter of a path. */
const ALSO = ["baseUrl", "bearer", "store", "key", "secret"];

let directory: string;
let described: Described;

beforeAll(async () => {
  await mkdir(path.join(ROOT, ".wrangler"), { recursive: true });
  directory = await mkdtemp(path.join(ROOT, ".wrangler/samples-")); // a folder that reaches node_modules
  described = await readDescription();
}, 120_000);
afterAll(() => rm(directory, { recursive: true, force: true }));

const sampleOf = (entry: Entry): string | null => sdkSample(entry, described.components?.schemas ?? {});

/** The samples of the SDK, by the IDs of their operations. */
const sdkSamples = (): (readonly [id: string, text: string])[] =>
  entriesOf(described).flatMap((entry) => {
    const text = sampleOf(entry);
    return text === null ? [] : [[entry.operation.operationId, text] as const];
  });

/** Stands in for the platform and the sandbox's bundle: every import is a class. */
const PLATFORM = "module.exports = new Proxy({}, { get: () => class {} });";

/** The description of the API, which is made from the Worker's endpoints: nothing of the platform runs. */
async function readDescription(): Promise<Described> {
  const outfile = path.join(directory, "description.js");
  await build({
    stdin: {
      contents: `export { loadEndpoints } from "./src/endpoints.ts"; export { buildDocument } from "./src/http/openapi/openapi.ts";`,
      resolveDir: ROOT,
    },
    ...{ bundle: true, format: "esm", platform: "node", outfile, logLevel: "error" },
    plugins: [
      {
        name: "platform",
        setup: ({ onResolve, onLoad }) => {
          onResolve({ filter: /^cloudflare:|\.txt$/ }, ({ path }) => ({ path, namespace: "platform" }));
          onLoad({ filter: /./, namespace: "platform" }, () => ({ contents: PLATFORM }));
        },
      },
    ],
  });
  const { loadEndpoints, buildDocument } = await import(pathToFileURL(outfile).href);
  return readDocument(buildDocument(await loadEndpoints()));
}

it("each operation has a sample of the SDK, or says what does the same instead", () => {
  const without = entriesOf(described).filter((entry) => sampleOf(entry) === null);
  const unsaid = without.filter(({ operation }) => insteadOfSdk(operation) === undefined);
  expect(unsaid.map(({ operation }) => operation.operationId)).toEqual([]);
  expect(without.length).toBeLessThan(25);
});

it("samples of the SDK and of fetch compile", { timeout: 120_000 }, async () => {
  const globals = [
    ...Object.entries(VALUES).map(([name, value]) => `declare const ${name}: ${typeOf(value)};`),
    ...ALSO.map((name) => `declare const ${name}: string;`),
  ];
  await writeFile(path.join(directory, "globals.d.ts"), globals.join("\n"));
  for (const [id, text] of sdkSamples())
    await writeFile(path.join(directory, `${id}.sdk.ts`), `${SDK_PRELUDE}\n${text}\nexport {};\n`);
  const schemas = described.components?.schemas ?? {};
  for (const entry of entriesOf(described).filter(isJson))
    await writeFile(
      path.join(directory, `${entry.operation.operationId}.fetch.ts`),
      `${samplesOf(entry, schemas).find(({ title }) => title === "fetch")?.text}\nexport {};\n`,
    );
  const config = {
    extends: path.join(ROOT, "tsconfig.json"),
    compilerOptions: {
      ...{ lib: ["es2024", "dom", "dom.iterable"], types: [], noUnusedLocals: false },
    },
    include: ["*.ts"],
    exclude: [],
  };
  await writeFile(path.join(directory, "tsconfig.json"), JSON.stringify(config));
  const tsc = path.join(ROOT, "node_modules/.bin/tsc");
  const { stdout } = await run(tsc, ["--project", directory, "--pretty", "false", "--checkers", "1"], {
    cwd: directory,
  });
  expect(stdout).toBe("");
});

/** The sample, which may reuse their names, as a function of the SDK and of the readers' values. */
type Runnable = (atrium: AtriumServer, values: typeof VALUES) => Promise<void>;

it("each sample of the SDK makes its operation's request, and reads the response", {
  timeout: 120_000,
}, async () => {
  const outfile = path.join(directory, "runnable.js");
  const names = Object.keys(VALUES).filter((name) => !["serverUrl", "accountId", "apiKey"].includes(name));
  const functions = sdkSamples().map(
    ([id, text]) => `${id}: async (atrium, { ${names.join(", ")} }) => {\n{\n${text}\n}\n},`,
  );
  await build({
    stdin: { contents: `export const samples = {\n${functions.join("\n")}\n};`, loader: "ts" },
    ...{ format: "esm", outfile, logLevel: "error" },
  });
  const { samples }: { samples: Readonly<Record<string, Runnable>> } = await import(
    pathToFileURL(outfile).href
  );
  for (const entry of entriesOf(described)) {
    const sample = samples[entry.operation.operationId];
    if (sample === undefined) continue;
    const requests: string[] = [];
    const atrium = new AtriumServer({
      ...{ serverUrl: "https://atrium.example", accountId: "account", apiKey: "key" },
      fetch: async (input, init) => {
        const request = new Request(input, init);
        requests.push(`${request.method} ${new URL(request.url).pathname}`);
        return Response.json(answerOf(entry));
      },
    });
    await sample(atrium, VALUES);
    const place = entry.path.replaceAll(/\{\w+\}/g, "[^/]+");
    expect(requests).toEqual([expect.stringMatching(new RegExp(`^${entry.method.toUpperCase()} ${place}$`))]);
  }
});

/** The response that the description shows, as the last page of a list. */
function answerOf({ operation }: Entry): unknown {
  const answers = ["200", "201", "202"].map((status) => jsonOf(operation.responses[status]));
  const schema = answers.find((answer) => answer !== undefined) ?? {};
  const text = JSON.stringify(
    exampleOf(schema, described.components?.schemas ?? {}),
    (key, value: unknown) => (key === "cursor" ? null : value),
  );
  return JSON.parse(text);
}
