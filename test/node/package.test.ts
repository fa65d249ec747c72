/** What applications install: built, packed, looked at by the linters of packages, and used as they would. */
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT, run, runCli } from "./processes.ts";

const MAX_CLIENT_BYTES = 12 * 1024;
const TOOL = { timeoutMs: 100_000 };

let directory: string;
/** What `npm pack` made, and an application that has installed it. */
let tarball: string;
let application: string;

const bin = (file: string): string => path.join(ROOT, "node_modules", file);

/** Runs a tool to its end; fails with what it said unless it ended well. */
async function succeed(program: string, args: readonly string[], cwd = directory): Promise<string> {
  const { exitCode, stdout, stderr } = await run(program, args, { cwd, ...TOOL });
  if (exitCode !== 0) throw new Error(`${path.basename(program)} ${args.join(" ")}\n${stdout}\n${stderr}`);
  return stdout;
}

/** Installs the package in the application. */
async function unpack(): Promise<void> {
  const installed = path.join(application, "node_modules/atrium");
  await mkdir(installed, { recursive: true });
  await succeed("tar", ["-xzf", tarball, "-C", installed, "--strip-components", "1"]);
}

const node = (...args: string[]): Promise<string> => succeed(process.execPath, args, application);

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "atrium-package-"));
  for (const name of ["package.json", "README.md", "LICENSE"])
    await copyFile(path.join(ROOT, name), path.join(directory, name));
  const built = await runCli("build.ts", ["--out", path.join(directory, "dist")]);
  expect(built).toMatchObject({ exitCode: 0, stdout: "", stderr: "" });
  const [{ filename }] = JSON.parse(await succeed("npm", ["pack", "--json"]));
  tarball = path.join(directory, filename);
  application = path.join(directory, "application");
  await unpack();
  await writeFile(path.join(application, "package.json"), '{ "type": "module" }');
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe("the package", () => {
  it("passes publint and attw, which find something in a worse one", async () => {
    const linters = (file: string) => [
      [bin("publint/src/cli.js"), "run", file, "--strict"],
      [bin("@arethetypeswrong/cli/dist/index.js"), file, "--profile", "esm-only", "--no-definitely-typed"],
    ];
    for (const args of linters(tarball)) expect((await run(process.execPath, args, TOOL)).exitCode).toBe(0);
    const worse = path.join(directory, "worse.tgz");
    const installed = path.join(application, "node_modules/atrium");
    await rm(path.join(installed, "dist/sdk/client/index.d.ts"));
    await succeed("tar", [
      "-czf",
      worse,
      "-C",
      path.dirname(installed),
      "--transform",
      "s/^atrium/package/",
      "atrium",
    ]);
    await unpack();
    for (const args of linters(worse)) expect((await run(process.execPath, args, TOOL)).exitCode).toBe(1);
  });

  it("has a client of at most 12 KiB, with all that it loads", async () => {
    const file = (name: string) => readFile(path.join(directory, "dist", name), "utf8");
    const client = await file("client.js");
    const shared = [...client.matchAll(/from\s*"\.\/([^"]+)"/g)].map(([, name = ""]) => file(name));
    const bytes = gzipSync([client, ...(await Promise.all(shared))].join("\n")).byteLength;
    expect(bytes).toBeLessThanOrEqual(MAX_CLIENT_BYTES);
    expect(bytes).toBeGreaterThan(1024);
  });

  it("gives Node both clients, with one class of errors and all that they need", async () => {
    const script = `
      import * as atrium from "atrium/client";
      import * as server from "atrium/server";
      console.log(Object.keys(atrium).sort().join());
      try { new atrium.AtriumClient({ serverUrl: "http://localhost", authToken: "none" }); }
      catch (error) { console.log(error instanceof server.AtriumError, error.code); }
      Date.now = () => 1614265330000;
      console.log(server.verifyWebhook('{"test": 2432232314}', {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
      }, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").test);`;
    const said = await node("--input-type=module", "--eval", script);
    expect(said).toBe("AtriumClient,AtriumError,defineStores\ntrue VALIDATION_ERROR\n2432232314\n");
  });

  it.each(["nodenext", "bundler"])("has types that know what stores hold (%s)", async (resolution) => {
    const source = `
      import { AtriumClient, type Comment, defineStores, type User } from "atrium/client";
      import { type AtriumEvent, AtriumServer, verifyWebhook } from "atrium/server";
      import type { Workflow } from "atrium/workflow";
      const stores = defineStores({
        tasks: {
          title: { type: "string", required: true },
          done: { type: "boolean", default: false },
          size: { type: "number" },
          tags: { type: "array" },
        },
      });
      const client = new AtriumClient({ serverUrl: "http://localhost", authToken: "", stores });
      const { tasks } = client.stores;
      const task = tasks.get("1");
      if (task !== undefined) {
        const [title, done, size]: [string, boolean, number | undefined] = [task.title, task.done, task.size];
        console.log(title, done, size);
      }
      await tasks.set("1", { title: "Plan" });
      await tasks.update("1", { done: true });
      const value: unknown = client.store("free").get("1");
      client.users.on("userJoined", (user: User) => console.log(user.name, value));
      client.comments.on("created", (comment: Comment) => console.log(comment.text));
      client.socket.on("reconnecting", ({ attempt }) => console.log(attempt + 1));
      const server = new AtriumServer({ serverUrl: "http://localhost", accountId: "", apiKey: "" });
      console.log((await server.rooms.create({ name: "A room" })).id.length);
      const event: AtriumEvent = verifyWebhook("", new Headers(), "");
      if (event.event === "session.closed") console.log(event.users.length);
      else if (event.event !== "session.started") console.log(event.user.name);
      // @ts-expect-error: there is no such event
      await server.webhooks.create({ url: "", events: ["user.renamed"] });
      const workflow: Workflow<"user.created" | "session.closed"> = async (event, { files, store }) => {
        const greeted: string[] = event.event === "user.created" ? [event.user.name] : event.users.map(({ name }) => name);
        const { key } = await files.put("greeting.txt", greeted.join());
        return { key, note: await store.get("notes", "greeting") };
      };
      const code = \`export default \${workflow}\`;
      const { id } = await server.workflows.create({ name: "Greet", code, events: ["user.created"] });
      console.log((await server.workflows.run(id, "user.created", { roomId: "", userId: "" })).logs.length);
      // @ts-expect-error: a room has no stores to write to
      const writing: Workflow = (_, { store }) => store.set("notes", "greeting", 1);
      // @ts-expect-error: the event of a closed session has no user
      const wrong: Workflow<"session.closed"> = (event) => [event.user, writing];
      console.log(wrong);
      // @ts-expect-error: a task has a title
      await tasks.set("1", { done: true });
      // @ts-expect-error: a title is text
      await tasks.set("1", { title: 1 });
      // @ts-expect-error: a task has no color
      await tasks.update("1", { color: "red" });
      // @ts-expect-error: no such store was declared
      client.stores.notes.sync();`;
    await writeFile(path.join(application, "application.ts"), source);
    const compilerOptions = {
      module: resolution === "bundler" ? "esnext" : resolution,
      moduleResolution: resolution,
      target: "es2022",
      lib: ["es2022", "dom"],
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
    };
    await writeFile(
      path.join(application, "tsconfig.json"),
      JSON.stringify({ compilerOptions, files: ["application.ts"] }),
    );
    expect(await node(bin("typescript/bin/tsc"), "-p", application)).toBe("");
  });
});
