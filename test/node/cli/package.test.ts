/** The package that `npm run build` produces: packed, linted, installed into empty projects and used there. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { AtriumServer } from "atrium/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OLDEST_PLATFORMS } from "../../../src/cli/package/manifest.ts";
import { gzippedBytes, modulesOf, without } from "../../support/package-modules.ts";
import { readBlocks, readDocument } from "../docs/markdown.ts";
import { ROOT, run, runCli } from "./processes.ts";
import { sharedService } from "./shared-service.ts";

/** Entries that an application loads without any of the optional ones. */
const OTHERS = ["client", "react", "react/suspense", "server"];
const MAX_INSTALLED_BYTES = 2.5 * 1024 * 1024;
/** A hanging tool fails the test; a slow machine does not. */
const TOOL = { timeoutMs: 110_000 };
const OLDEST_NODE = "22.18.0";

/**
 * Features that the oldest browsers of docs/guides/connecting.md lack: Chrome 109, Firefox 115 and Safari 16.4.
 * The compiler knows JavaScript's own library only in part, and the browser's not at all.
 */
const TOO_NEW = new RegExp(
  [
    String.raw`Promise\??\.(withResolvers|try)\b`,
    String.raw`\bURL\.(parse|canParse)\b`,
    String.raw`\bArray\.fromAsync\b`,
    String.raw`\b(Object|Map)\.groupBy\b`,
    String.raw`\bAbortSignal\.any\b`,
    String.raw`\bReadableStream\.from\b`,
    String.raw`\b(RegExp|Error|Math)\.(escape|isError|sumPrecise)\b`,
    String.raw`\bSymbol\.(dispose|asyncDispose)\b`,
    String.raw`\.(toSorted|toReversed|toSpliced|isWellFormed|toWellFormed)\(`,
    String.raw`\.(union|intersection|difference|symmetricDifference|isSubsetOf|isSupersetOf|isDisjointFrom)\(`,
    String.raw`\.(toBase64|toHex|setFromBase64|setFromHex|getOrInsert|getOrInsertComputed)\(`,
    String.raw`\.(values|keys|entries)\(\)\.(map|filter|take|drop|flatMap|reduce|toArray|forEach|some|every|find)\(`,
    String.raw`\bcolor-mix\(`,
    String.raw`\.(checkVisibility|showPopover|hidePopover|togglePopover|moveBefore|startViewTransition)\(`,
  ].join("|"),
);

const bin = (file: string): string => path.join(ROOT, "node_modules", file);

/** Runs a tool and returns its output. Throws with the output if the tool fails. */
async function succeed(program: string, args: readonly string[], cwd = directory): Promise<string> {
  const { exitCode, stdout, stderr } = await run(program, args, { cwd, ...TOOL });
  if (exitCode !== 0) throw new Error(`${path.basename(program)} ${args.join(" ")}\n${stdout}\n${stderr}`);
  return stdout;
}

/** Creates an empty project and installs packages into it, preferring npm's cache. */
async function install(name: string, ...packages: readonly string[]): Promise<string> {
  const project = path.join(directory, name);
  await mkdir(project);
  const manifest = {
    private: true,
    type: "module",
    scripts: { "which-node": "node -p process.execPath" },
    allowScripts: { node: true },
  };
  await writeFile(path.join(project, "package.json"), JSON.stringify(manifest));
  await succeed("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", ...packages], project);
  return project;
}

const directory = await mkdtemp(path.join(tmpdir(), "atrium-package-"));
const dist = path.join(directory, "dist");
const built = await runCli("build.ts", ["--out", dist]);
expect(built).toMatchObject({ exitCode: 0, stderr: "" });
expect(built.stdout.replaceAll(/^ +\d+ s\n/gm, "")).toBe(
  `Bundling the package …\nChecking the types, and writing their declarations …\nThe package is in ${dist}\n`,
);
const [{ filename }] = JSON.parse(await succeed("npm", ["pack", "--json", dist]));
const tarball = path.join(directory, filename);
const plain = await install("plain", tarball);

afterAll(() => rm(directory, { recursive: true, force: true }));

describe("the package", () => {
  it("is the only package that an application installs, and smaller than 2.5 MB", async () => {
    const installed = path.join(plain, "node_modules");
    expect((await readdir(installed)).sort()).toEqual([".package-lock.json", "atrium"]);
    const files = await readdir(installed, { recursive: true, withFileTypes: true });
    const sizes = await Promise.all(
      files.filter((file) => file.isFile()).map((file) => readFile(path.join(file.parentPath, file.name))),
    );
    const bytes = sizes.reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(bytes).toBeGreaterThan(100 * 1024);
    expect(bytes).toBeLessThan(MAX_INSTALLED_BYTES);
  });

  it("does not replace the project's Node.js", async () => {
    const inScripts = await succeed("npm", ["run", "--silent", "which-node"], plain);
    expect(inScripts).toBe(await succeed("node", ["-p", "process.execPath"], plain));
  });

  it("has no dependencies, React and Yjs as optional peers, and the root manifest's version", async () => {
    const [manifest, root] = await Promise.all(
      [dist, ROOT].map(async (at) => JSON.parse(await readFile(path.join(at, "package.json"), "utf8"))),
    );
    expect(manifest).toMatchObject({
      name: "atrium",
      version: root.version,
      sideEffects: ["**/*.css"],
      peerDependencies: { react: ">=18", "y-protocols": "^1.0.6", yjs: "^13.6.0" },
      peerDependenciesMeta: {
        react: { optional: true },
        "y-protocols": { optional: true },
        yjs: { optional: true },
      },
    });
    expect([manifest.private, manifest.dependencies, root.private]).toEqual([undefined, undefined, true]);
    // Most of its users are pages, whose builds on an older Node.js it would warn of or refuse.
    expect(manifest.engines).toBeUndefined();
    const described = ["LICENSE", "README.md", "THIRD-PARTY-LICENSES", "package.json"];
    expect(await readdir(dist)).toEqual(expect.arrayContaining(described));
  });

  it("passes publint and attw, which fail it without the client's types", async () => {
    const lint = (file: string) =>
      Promise.all(
        [
          [bin("publint/src/cli.js"), "run", file, "--strict"],
          [
            bin("@arethetypeswrong/cli/dist/index.js"),
            file,
            "--profile",
            "esm-only",
            "--no-definitely-typed",
          ],
        ].map(async (args) => (await run(process.execPath, args, TOOL)).exitCode),
      );
    expect(await lint(tarball)).toEqual([0, 0]);
    const worse = path.join(directory, "worse.tgz");
    const omit = ["--exclude", "client/index.d.ts", "--transform", "s/^dist/package/"];
    await succeed("tar", ["-czf", worse, ...omit, "dist"]);
    expect(await lint(worse)).toEqual([1, 1]);
  });

  it("uses nothing that the oldest supported browsers lack", async () => {
    const entries = [
      "client",
      "react",
      "react/suspense",
      "react-ui",
      "devtools",
      "blocknote",
      "tldraw",
      "inbox",
      "push-worker",
      "offline",
      "documents",
      "documents/react",
      "streams",
      "streams/react",
    ];
    for (const entry of entries) {
      for (const [name, text] of await modulesOf(dist, entry))
        expect([name, TOO_NEW.exec(text)?.[0]]).toEqual([name, undefined]);
    }
    const styles = await readFile(path.join(dist, "react-ui/styles.css"), "utf8");
    expect(styles.replace(/@supports [^{]*\{(?:[^{}]*\{[^{}]*\})*\s*\}/g, "")).not.toMatch(
      /:has\(|color-mix\(/,
    );
    const newer = [
      "new Map().values().map(f)",
      "a.toSorted()",
      "Promise.withResolvers()",
      "URL.parse(u)",
      "a.union(b)",
    ];
    for (const text of newer) expect(text).toMatch(TOO_NEW);
  });

  it.each([
    ["client", 21_300, [], /AtriumError/],
    ["devtools", 7_000, OTHERS, /atrium-devtools/],
    ["blocknote", 3_400, [...OTHERS, "devtools", "documents"], /canCreateThread/],
    ["documents", 5_000, [...OTHERS, "devtools", "offline"], /from\s*"(yjs|y-protocols\/)/],
    ["offline", 6_000, [...OTHERS, "devtools"], /indexedDB/],
    ["streams", 6_000, [...OTHERS, "devtools"], /Producer-Id/],
  ])(
    "has an entry %s of at most %i bytes gzipped, whose own modules no other entry loads",
    async (entry, most, others, mark) => {
      let own = await modulesOf(dist, entry);
      for (const other of others) {
        const modules = await modulesOf(dist, other);
        expect([...modules.values()].join()).not.toMatch(mark);
        own = without(own, modules);
      }
      expect([...own.values()].join()).toMatch(mark);
      const bytes = gzippedBytes(own);
      expect(bytes).toBeLessThanOrEqual(most);
      expect(bytes).toBeGreaterThan(1024);
    },
  );

  it("leaves nothing of DevTools in an application that uses them in development only", async () => {
    const application = `
      import { AtriumClient } from "atrium/client";
      import { openDevTools } from "atrium/devtools";
      export function start(options) {
        const client = new AtriumClient(options);
        if (process.env.NODE_ENV === "development") openDevTools(client);
        return client;
      }`;
    await writeFile(path.join(plain, "start.js"), application);
    const bundled = (environment: string) =>
      succeed(
        process.execPath,
        [
          ...[bin("esbuild/bin/esbuild"), "start.js", "--bundle", "--minify", "--format=esm"],
          `--define:process.env.NODE_ENV="${environment}"`,
        ],
        plain,
      );
    expect(await bundled("development")).toContain("atrium-devtools");
    expect(await bundled("production")).not.toContain("atrium-devtools");
  });

  it("names the oldest platforms that it is built for", async () => {
    for (const file of [path.join(dist, "README.md"), path.join(ROOT, "docs/guides/connecting.md")]) {
      const text = await readFile(file, "utf8");
      for (const platform of OLDEST_PLATFORMS) {
        const [, name, version] = /^([a-z]+)([\d.]+)$/.exec(platform) ?? [];
        expect(text).toMatch(new RegExp(`\\b${name}\\b[^0-9]* ${version}\\b`, "i"));
      }
    }
  });
});

describe("Node", () => {
  let serviceUrl: string;
  let credentials: readonly string[];
  /** The binaries by major version: the oldest that the package supports, and the one that this project uses. */
  let binaries: Record<string, string>;

  beforeAll(async () => {
    const { url, accountId, apiKey } = await sharedService();
    serviceUrl = url;
    credentials = [accountId, apiKey];
    const oldest = await install("node", `node@${OLDEST_NODE}`);
    binaries = { 22: path.join(oldest, "node_modules/.bin/node"), 24: bin(".bin/node") };
    const script = `
      import { AtriumClient, AtriumError } from "atrium/client";
      import * as server from "atrium/server";
      import * as workflow from "atrium/workflow";
      const [serverUrl, accountId, apiKey] = process.argv.slice(2);
      const atrium = new server.AtriumServer({ serverUrl, accountId, apiKey });
      const room = await atrium.rooms.create({ name: "Weekly planning" });
      const { token: authToken } = await atrium.users.create({ roomId: room.id, name: "Ada" });
      const client = new AtriumClient({ serverUrl, authToken });
      await client.join();
      await client.store("notes").set("1", "Hello");
      const { value } = await atrium.stores.get(room.id, "notes", "1");
      client.disconnect();
      const refusal = await atrium.rooms.get("none").catch((error) => error);
      Date.now = () => 1614265330000;
      const event = server.verifyWebhook('{"test": 2432232314}', {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
      }, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
      console.log(JSON.stringify({
        major: process.version.split(".")[0],
        user: client.currentUser.name,
        value,
        refusal: [refusal instanceof AtriumError, AtriumError === server.AtriumError, refusal.code],
        event,
        workflow: Object.keys(workflow),
      }));`;
    await writeFile(path.join(plain, "script.js"), script);
  });

  it.each([22, 24])("%i runs both clients against a service", async (major) => {
    const args = ["script.js", serviceUrl, ...credentials];
    expect(JSON.parse(await succeed(binaries[major] ?? "", args, plain))).toEqual({
      major: `v${major}`,
      user: "Ada",
      value: "Hello",
      refusal: [true, true, "NOT_FOUND"],
      event: { test: 2_432_232_314 },
      workflow: [],
    });
  });

  it.each(["client", "server", "offline", "documents", "inbox", "react", "streams"])(
    "finds an entry %s whose stack traces can be read",
    async (entry) => {
      for (const [name, text] of await modulesOf(dist, `node/${entry}`)) {
        const longest = Math.max(...text.split("\n").map(({ length }) => length));
        expect([name, longest < 1_000]).toEqual([name, true]);
      }
    },
  );

  it("shows an uncaught error with its class, its cause and a line of code", async () => {
    const script = `
      import { AtriumServer } from "atrium/server";
      const options = { serverUrl: "http://127.0.0.1:2", accountId: "1", apiKey: "k", maxRetries: 0 };
      await new AtriumServer(options).rooms.list();`;
    await writeFile(path.join(plain, "uncaught.js"), script);
    const { exitCode, stderr } = await run(binaries[24] ?? "", ["uncaught.js"], { cwd: plain, ...TOOL });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^AtriumError: The service could not be reached/m);
    expect(stderr).toMatch(/code: 'UNREACHABLE'/);
    expect(stderr).toMatch(/\[cause\]: \[?TypeError: fetch failed/);
    expect(stderr).toMatch(/at \S*#attempt \(file:.*\/node\/.*\.js:\d+:\d+\)/);
    expect(stderr.length).toBeLessThan(6_000);
  });

  it("runs the guides' samples of authToken, whose back end fails at first", async () => {
    const { url, accountId, apiKey } = await sharedService();
    const atrium = new AtriumServer({ serverUrl: url, accountId, apiKey });
    const { id: roomId } = await atrium.rooms.create({ name: "Board" });
    const { token } = await atrium.users.create({ roomId, name: "Ada" });
    const answers: readonly [status: number, body: string][] = [
      [502, "<h1>Bad gateway</h1>"],
      [200, "<h1>Sign in to the hotel's network</h1>"],
      [401, "Who are you?"],
      [200, `${token}\n`],
    ];
    const project = path.join(plain, "samples");
    await mkdir(project);
    const blocks = async (page: string) => readBlocks(await readDocument(`docs/guides/${page}.md`));
    const connecting = (await blocks("connecting")).find(({ code }) =>
      code.includes("response.status === 401"),
    );
    const named = (await blocks("failures")).filter(({ file }) => file === "token.ts" || file === "page.ts");
    expect(named.map(({ file }) => file)).toEqual(["token.ts", "page.ts"]);
    for (const { file, code } of [{ file: "connecting.ts", code: connecting?.code ?? "" }, ...named])
      await writeFile(
        path.join(project, file ?? ""),
        code.replaceAll("https://atrium.example", url).replaceAll('"./token"', '"./token.ts"'),
      );
    // A page has an address of its own, which relative ones of its back end are added to.
    const script = `
      const answers = ${JSON.stringify(answers)};
      let asked = 0;
      const fetched = globalThis.fetch;
      globalThis.fetch = async (url, init) => {
        if (!String(url).startsWith("/my-back-end/")) return fetched(url, init);
        const [status, body] = answers[Math.min(asked, answers.length - 1)];
        asked += 1;
        return new Response(body, { status });
      };
      const notices = [];
      const { openBoard } = await import("./page.ts");
      const board = await openBoard((text) => notices.push(text.replace(/\\d+/, "N")), () => {});
      const waited = asked;
      asked = 0;
      const log = console.log;
      const { client } = await import("./connecting.ts");
      log(JSON.stringify({ users: [board, client].map(({ currentUser }) => currentUser.name), waited, asked, notices: [...new Set(notices)] }));
      board.disconnect();
      client.disconnect();`;
    await writeFile(path.join(project, "run.ts"), script);
    const exported = path.join(project, "connecting.ts");
    await writeFile(exported, `${await readFile(exported, "utf8")}\nexport { client };\n`);
    const printed = await succeed(binaries[24] ?? "", ["run.ts"], project);
    expect(JSON.parse(printed)).toEqual({
      users: ["Ada", "Ada"],
      waited: answers.length,
      asked: answers.length,
      notices: ["", "Trying again in N s", "Reconnecting…"],
    });
  });

  it.each([22, 24])("%i requires the server's client in a CommonJS module", async (major) => {
    const script = 'process.stdout.write(typeof require("atrium/server").AtriumServer)';
    expect(await succeed(binaries[major] ?? "", ["--input-type=commonjs", "-e", script], plain)).toBe(
      "function",
    );
  });
});

/** Compiles the sources of a project under `strict`; returns the compiler's output. */
async function compile(project: string, resolution: string, files: Record<string, string>): Promise<string> {
  const compilerOptions = {
    module: resolution === "bundler" ? "esnext" : resolution,
    moduleResolution: resolution,
    target: "es2022",
    lib: ["es2022", "dom"],
    jsx: "react-jsx",
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
  };
  for (const [name, source] of Object.entries(files)) await writeFile(path.join(project, name), source);
  const config = JSON.stringify({ compilerOptions, files: Object.keys(files) });
  await writeFile(path.join(project, "tsconfig.json"), config);
  const { stdout } = await run(process.execPath, [bin("typescript/bin/tsc"), "-p", project], TOOL);
  return stdout;
}

describe("TypeScript", () => {
  it("takes undefined for each option that can be left out", async () => {
    const source = `
      import type { AtriumClientOptions, AtriumOptions, GuestOptions, RoomOptions, Upload, CommentFilter, NewComment, ThreadFilter, WriteOptions, InputOf, PatchOf } from "atrium/client";
      import type * as server from "atrium/server";
      import type { KeepOfflineOptions, IndexedDbOptions } from "atrium/offline";
      import type { InboxFilter } from "atrium/inbox";
      import type { DevToolsOptions } from "atrium/devtools";
      import type { PushOptions } from "atrium/push-worker";
      /** The optional fields that refuse undefined: with exactOptionalPropertyTypes, they differ from those that take it. */
      type Refusing<T> = { [N in keyof T]-?: {} extends Pick<T, N> ? (Record<N, undefined> extends Pick<T, N> ? never : N) : never }[keyof T];
      const none = <T,>(..._: [Refusing<T>] extends [never] ? [] : [Refusing<T>]) => {};
      none<AtriumClientOptions<{}>>(); none<AtriumOptions>(); none<GuestOptions>(); none<RoomOptions>(); none<Upload>();
      none<CommentFilter>(); none<NewComment>(); none<ThreadFilter>(); none<WriteOptions>();
      none<KeepOfflineOptions>(); none<IndexedDbOptions>(); none<InboxFilter>();
      none<DevToolsOptions>(); none<PushOptions>();
      none<server.AtriumServerOptions>(); none<server.WriteOptions>(); none<server.EntryPage>(); none<server.StoreBatch>();
      none<server.CommentFilter>(); none<server.ThreadFilter>(); none<server.ServerUpload>(); none<server.FileSearch>(); none<server.FileFilter>();
      none<server.CompareOptions>(); none<server.ContentOptions>(); none<server.HistoryOptions>(); none<server.PreviewOptions>();
      none<server.ReadOptions>(); none<server.RollbackOptions>(); none<server.InboxSearch>(); none<server.EventFilter>(); none<server.RequestFilter>();
      none<server.AuditFilter>(); none<server.FileSort>(); none<server.KeySearch>(); none<server.MemberSearch>(); none<server.Page>();
      none<server.RoomSearch>(); none<server.Scroll>(); none<server.Search>(); none<server.UserSearch>(); none<server.WebhookSearch>();
      none<server.WorkflowSearch>(); none<server.DeliverySearch>();
      none<server.RoomInput>(); none<server.UserInput>(); none<server.IdentityInput>(); none<server.WebhookInput>(); none<server.WorkflowInput>();
      none<server.RoomUpdateInput>(); none<server.UserUpdateInput>(); none<server.CommentInput>(); none<server.RoomLinkInput>();
      type Shape = { readonly a: { readonly type: "string"; readonly required: true }; readonly b: { readonly type: "number" } };
      none<InputOf<Shape>>(); none<PatchOf<Shape>>();
      // @ts-expect-error: the test itself finds a field that does not
      none<{ readonly x?: number }>();`;
    expect(await compile(plain, "bundler", { "undefined.ts": source })).toBe("");
  });

  it.each(["bundler", "nodenext"])("checks an application with %s resolution", async (resolution) => {
    const source = `
      import { openDevTools } from "atrium/devtools";
      import { indexedDbStorage, keepOffline, memoryStorage, type OfflineStorage } from "atrium/offline";
      import { type AtriumThreadStore, openThreadStore } from "atrium/blocknote";
      import { type InboxNotification, type NotificationSettings, openInbox } from "atrium/inbox";
      import { showPushNotifications } from "atrium/push-worker";
      import { Atrium, AtriumClient, AtriumError, type AtriumErrorCode, type Comment, defineStores, type Guest, redeemLink, type User } from "atrium/client";
      import { type AtriumEvent, AtriumServer, type Delivery, verifyWebhook } from "atrium/server";
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
      const storages: OfflineStorage[] = [memoryStorage(), indexedDbStorage({ database: "board" })];
      const offline = keepOffline({ storage: memoryStorage(), stores: ["tasks"], onRejected: ({ store, key, error }) => console.log(store, key, error.code) });
      const kept = new AtriumClient({ serverUrl: "http://localhost", authToken: "", stores, offline });
      const isCached: boolean = kept.stores.tasks.state === "cached";
      await offline.clear().then(() => console.log(isCached, storages.length));
      const threadStore: AtriumThreadStore = await openThreadStore(client, "plan");
      threadStore.subscribe((threads) => console.log(threads.get("t")?.comments[0]?.body, threadStore.auth.canCreateThread()));
      const close: () => void = openDevTools(client, { isOpen: true });
      close();
      const guest: Guest = await redeemLink({ serverUrl: "", accountId: "", secret: "", name: "Ada", token: undefined });
      const entered = new Atrium({ serverUrl: "", authToken: guest.authToken }).enterRoom(guest.roomId, { stores });
      console.log(guest.identity.kind === "guest", guest.token, entered.stores.tasks.state);
      const inbox = openInbox(new Atrium({ serverUrl: "", authToken: guest.authToken }));
      inbox.on("notification", ({ kind, activities }: InboxNotification) => console.log(kind, activities[0]?.data));
      const left: number = await inbox.markAsRead({ notificationId: (await inbox.list({ unread: true })).notifications[0]?.id ?? "" });
      console.log(left, inbox.unread, inbox.socket.state);
      // @ts-expect-error: no such event exists
      inbox.on("updates", () => {});
      const settings: NotificationSettings = await inbox.updateSettings({ webPush: { kinds: { thread: false, $invoice: null } } });
      // @ts-expect-error: no such channel exists
      await inbox.updateSettings({ sms: { enabled: false } });
      showPushNotifications({ icon: "/icon.png" });
      console.log(settings.email.enabled, await inbox.subscribeToPush(await navigator.serviceWorker.ready));
      // @ts-expect-error: the token is read-only
      guest.token = "";
      const { tasks } = client.stores;
      const task = tasks.get("1");
      if (task !== undefined) {
        const [title, done, size]: [string, boolean, number | undefined] = [task.title, task.done, task.size];
        console.log(title, done, size);
      }
      await tasks.set("1", { title: "Plan" });
      await tasks.update("1", { done: true });
      await tasks.set({ key: "1", value: { title: "Plan" }, ifVersion: 0 });
      await tasks.delete({ key: "1" });
      // @ts-expect-error: a task has a title, in either form
      await tasks.set({ key: "1", value: { done: true } });
      const value: unknown = client.store("free").get("1");
      client.users.on("userJoined", (user: User) => console.log(user.name, value));
      const adviceOn = (error: unknown): string => {
        if (!(error instanceof AtriumError)) throw error;
        const code: AtriumErrorCode = error.code;
        // @ts-expect-error: no such code exists
        if (error.code === "NOTFOUND") return "";
        return error.retryable ? "Try again" : code;
      };
      await client.join().catch((error) => console.log(adviceOn(error)));
      client.comments.on("created", (comment: Comment) => console.log(comment.text));
      client.socket.on("reconnecting", ({ attempt }) => console.log(attempt + 1));
      interface Shown { readonly cursor: { readonly x: number } | null; readonly tool: "pen" | "brush" }
      interface Sent { readonly cheer: { readonly emoji: string }; readonly done: undefined }
      const typed = new AtriumClient<typeof stores, { presence: Shown; broadcasts: Sent }>({ serverUrl: "", authToken: "", stores });
      await typed.stores.tasks.set("1", { title: "Plan" });
      typed.presence.update({ cursor: { x: 1 }, tool: undefined });
      typed.presence.sync("*", ({ state }) => {
        const [tool, color]: ["pen" | "brush" | undefined, string | undefined] = [state?.tool, state?.color];
        console.log(tool, color, state?.cursor?.x, typed.presence.own.tool);
      });
      typed.presence.on("error", ({ field, error }) => console.log(field, error.code));
      typed.notifications.on("cheer", ({ emoji }, from: string | null) => console.log(emoji, from));
      await typed.notifications.broadcast("cheer", { emoji: "🎉" }, ["1"]);
      await typed.notifications.broadcast("done");
      client.presence.update({ anything: 1 });
      client.notifications.on("anything", (data: unknown) => console.log(data));
      await client.notifications.broadcast("anything");
      // @ts-expect-error: no user shows a hat
      typed.presence.update({ hat: 1 });
      // @ts-expect-error: a pencil is no tool
      typed.presence.update({ tool: "pencil" });
      // @ts-expect-error: no such broadcast was declared
      typed.notifications.on("boo", () => {});
      // @ts-expect-error: a cheer has an emoji
      await typed.notifications.broadcast("cheer");
      // @ts-expect-error: no such event exists
      client.users.on("userJoind", () => {});
      // @ts-expect-error: no such event exists
      client.socket.on("disconnect", () => {});
      // @ts-expect-error: no such event exists
      client.stores.tasks.on("change", () => {});
      // @ts-expect-error: no such event exists
      client.presence.on("errors", () => {});
      // @ts-expect-error: no such event exists
      client.comments.on("create", () => {});
      client.on("unsyncedChanges", (hasUnsynced: boolean) => console.log(hasUnsynced));
      client.on("changesDiscarded", ({ writes, error }) => console.log(writes[0]?.key, error.code));
      // @ts-expect-error: no such event exists
      client.on("unsynced", () => {});
      client.history.on("changed", ({ canUndo, canRedo }) => console.log(canUndo, canRedo));
      // @ts-expect-error: no such event exists
      client.history.on("change", () => {});
      const server = new AtriumServer({ serverUrl: "http://localhost", accountId: "", apiKey: "" });
      const room = await server.rooms.create({ name: "A room" });
      const [id, customId]: [string, string | undefined] = [room.id, room.custom_id];
      console.log(id, customId);
      const delivery: Delivery = await server.webhooks.test("");
      const [status, retry]: ["pending" | "success" | "failed", string | null] = [delivery.status, delivery.next_retry_at];
      console.log(status, retry);
      const event: AtriumEvent = verifyWebhook("", new Headers(), "");
      if (event.event === "session.closed") console.log(event.users.length);
      else if (event.event === "user.updated") console.log(event.user.name);
      const events = ["user.created"] as const;
      await server.webhooks.create({ url: "", events });
      // @ts-expect-error: no such event exists
      await server.webhooks.create({ url: "", events: ["user.renamed"] });
      // @ts-expect-error: the service sets a room's id
      await server.rooms.create({ name: "A room", id: "1" });
      // @ts-expect-error: a room has no such field
      console.log(room.colour);
      // @ts-expect-error: resources are read-only
      room.name = "Another name";
      const workflow: Workflow<"user.created" | "session.closed"> = async (event, { files, store }) => {
        const greeted: string[] = event.event === "user.created" ? [event.user.name] : event.users.map(({ name }) => name);
        const { key } = await files.put("greeting.txt", greeted.join());
        return { key, note: await store.get("notes", "greeting") };
      };
      const code = \`export default \${workflow}\`;
      const { id: workflowId } = await server.workflows.create({ name: "Greet", code, events });
      console.log((await server.workflows.run(workflowId, "user.created", { roomId: "", userId: "" })).logs.length);
      // @ts-expect-error: a workflow cannot write to stores
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
    expect(await compile(plain, resolution, { "application.ts": source })).toBe("");
  });
});

/** An application that declares its own types once. */
const REGISTERED = `
  import { AtriumClient, defineStores } from "atrium/client";
  import { RoomProvider, useBroadcast, useMyPresence, useOther, useOthers, useRoom, useStore, useStoreActions, useUpdateMyPresence } from "atrium/react";
  import * as loaded from "atrium/react/suspense";
  import "atrium/react-ui/styles.css";
  const stores = defineStores({ tasks: { title: { type: "string", required: true }, done: { type: "boolean", default: false } } });
  interface Shown { readonly tool: "pen" | "brush" }
  declare module "atrium/client" {
    interface Register { stores: typeof stores; presence: Shown; broadcasts: { cheer: { emoji: string }; done: undefined } }
  }
  export function View() {
    const [tasks, { set, update, batch }] = useStore("tasks");
    const [titles] = useStore("tasks", (entries) => Object.values(entries).map(({ title }) => title));
    const [first, again]: (string | undefined)[] = [titles[0], loaded.useStore("tasks")[0]["1"]?.title];
    const isDone: boolean | undefined = tasks["1"]?.done;
    void set("1", { title: "Plan" });
    void update("1", { done: true });
    void batch([{ action: "set", key: "1", value: { title: "Plan" } }]);
    void useStoreActions("tasks").delete("1");
    const [mine, show] = useMyPresence();
    show({ tool: mine.tool === "pen" ? "brush" : "pen" });
    useUpdateMyPresence()({ tool: undefined });
    const tools: readonly ("pen" | "brush" | undefined)[] = useOthers((others) => others.map(({ presence }) => presence?.tool));
    const color: string | undefined = useOther("u2")?.presence?.color;
    const cheer = useBroadcast("cheer", ({ emoji }, from: string | null) => console.log(emoji, from));
    void cheer({ emoji: "🎉" }, ["u2"]);
    void useBroadcast("done")();
    useRoom().client.presence.update({ tool: "pen" });
    void useRoom().client.stores.tasks.set("1", { title: "Plan" });
    const title: string | undefined = loaded.useRoom().client.stores.tasks.get("1")?.title;
    // @ts-expect-error: a title is text
    void useRoom().client.stores.tasks.update("1", { title: 1 });
    // @ts-expect-error: no such store was declared
    useRoom().client.stores.notes;
    loaded.useRoom().client.notifications.on("cheer", ({ emoji }) => console.log(emoji));
    const client = new AtriumClient({ serverUrl: "", authToken: "", stores });
    const tool: "pen" | "brush" | undefined = client.presence.own.tool;
    const [others] = useStore<{ free: true }>("other");
    const isFree: true | undefined = others["1"]?.free;
    // @ts-expect-error: a task has a title
    void set("1", { done: true });
    // @ts-expect-error: a title is text
    void update("1", { title: 1 });
    // @ts-expect-error: a pencil is no tool
    show({ tool: "pencil" });
    // @ts-expect-error: no such broadcast was declared
    useBroadcast("boo");
    // @ts-expect-error: a cheer has an emoji
    void cheer();
    // @ts-expect-error: a client without type arguments has the registered types
    client.presence.update({ hat: 1 });
    return <p>{[first, again, isDone, tools, color, tool, isFree, title].join()}</p>;
  }
  declare const other: AtriumClient<Record<never, never>, { presence: { readonly x: number } }>;
  export const App = () => <><RoomProvider serverUrl="" authToken="" stores={stores} /><RoomProvider client={other} /></>;`;

/** The components as a server renders them, before the room was joined. */
const COMPONENTS = [
  '<div class="atrium-cursors"><ul class="atrium atrium-avatars" aria-label="Online users"></ul>',
  '<p class="atrium atrium-status" data-state="connecting"><span role="status">Connecting</span></p>',
  '<section class="atrium atrium-versions" aria-label="Versions" aria-busy="true">',
  '<p role="status" class="atrium-hidden"></p><p class="atrium-none">Loading…</p><ol></ol></section>',
  '<div class="atrium atrium-cursor-layer" aria-hidden="true"><div></div></div></div>',
].join("");

const INBOX = [
  '<section class="atrium atrium-inbox" aria-label="Notifications" aria-busy="true" tabindex="-1">',
  '<div class="atrium-bar"><span role="status"></span></div><p role="status" class="atrium-hidden"></p><p class="atrium-none">Loading…</p></section>',
].join("");

describe("React", () => {
  it.each([
    ["18", ["react@18.3.1", "react-dom@18.3.1", "@types/react@18.3.18"]],
    ["19", ["react@19.3.1", "react-dom@19.3.1", "@types/react@19.3.0"]],
  ])("%s compiles and renders every hook and component", async (major, packages) => {
    const project = await install(`react-${major}`, tarball, ...packages);
    const view = `
      import type { AtriumClient } from "atrium/client";
      import { AtriumProvider, RoomProvider, shallowEqual, type StoreEntries, useBroadcast, useCanRedo, useCanUndo, useComments, useConnection, useDocumentVersions, useInboxNotifications, useMyPresence, useOther, useOthers, useRedo, useRoom, useSelf, useStatus, useStore, useStoreActions, useThreadSubscription, useThreads, useUndo, useUpdateMyPresence } from "atrium/react";
      import { AtriumTexts, AvatarStack, Comment, Composer, ConnectionStatus, Cursors, InboxNotification, InboxNotificationList, type Texts, Thread, useGroupInfo, VersionHistory } from "atrium/react-ui";
      import { type ActiveComment, anchorAt, type CanvasEditor, CommentPins, useCanvasPins } from "atrium/tldraw";
      import * as loaded from "atrium/react/suspense";
      export const Pins = ({ editor }: { editor: CanvasEditor }) => <><CommentPins editor={editor} showResolved /><CommentPins editor={editor} showButton={false} active="placing" onActiveChange={(active: ActiveComment) => active} />{useCanvasPins(editor).length}{anchorAt(editor, { x: 1, y: 1 }).shapeId}</>;
      const groupOf = () => ({ name: "Team" });
      const texts: Partial<Texts> = { connecting: "Connecting", moreUsers: (names) => "+" + names.length };
      const Ready = () => <AtriumTexts texts={texts}><Cursors field="pointer"><AvatarStack max={2} /><ConnectionStatus /><Composer anchor={{ x: 1 }} onSent={({ thread_id }) => console.log(thread_id)} /><Thread threadId="t" resolveGroup={groupOf} />{useGroupInfo("g", groupOf)?.name}<VersionHistory document="notes" preview={({ name }) => name} />{useComments()[0].map((comment) => <Comment key={comment.id} comment={comment} />)}</Cursors></AtriumTexts>;
      function View() {
        const [notes, { set }] = useStore<{ text: string }>("notes");
        const [presence, show] = useMyPresence<{ typing: boolean }>();
        const update: typeof show = useUpdateMyPresence<{ typing: boolean }>();
        const [texts] = useStore("notes", (entries: StoreEntries<{ text: string }>) => Object.values(entries).map(({ text }) => text), shallowEqual);
        const lengths: readonly number[] = texts.map((text) => text.length);
        const name: string | null = useSelf(({ user }) => user.name);
        const other: string | undefined = useOther("u2")?.user.name;
        const writer = useStoreActions<{ text: string }>("notes");
        const [comments] = useComments();
        const [{ threads: [latest], total }, { markAsRead }] = useThreads({ unread: true });
        const [thread] = useThreadSubscription(latest?.id ?? "");
        const say: (data?: unknown) => Promise<number> = useBroadcast("hello");
        const { room } = useRoom();
        const { state } = useConnection();
        const isSame = useStatus() === state;
        const [undo, redo]: (() => boolean)[] = [useUndo(), useRedo()];
        const steps: readonly boolean[] = [useCanUndo(), useCanRedo(), loaded.useCanUndo()];
        const counts = [Object.keys(notes).length, comments.length, total, thread?.unread_count, typeof markAsRead, useOthers().length, useDocumentVersions("notes")[0].versions.length].join();
        const onClick = () => { show({ typing: true }); update({ typing: isSame }); void writer.delete([name, other, lengths].join()); void say(); if (steps.includes(true)) { undo?.(); redo?.(); } void set("1", { text: "Hello" }); };
        return <p onClick={onClick}>{state} {counts} {String(room?.name)} {String(useSelf()?.user.name)} {String(presence.typing)}</p>;
      }
      const Inbox = () => <><InboxNotificationList kinds={{ $invoice: ({ subject_id }) => subject_id }} />{useInboxNotifications()[0].notifications.map((one) => <InboxNotification key={one.id} notification={one} resolveRoom={async () => "A room"} />)}</>;
      declare const typed: AtriumClient<Record<never, never>, { presence: { readonly x: number }; broadcasts: { cheer: string } }>;
      export const Given = () => <RoomProvider client={typed} />;
      function Loaded() {
        const { room, role } = loaded.useRoom();
        const name: string = loaded.useSelf(({ user }) => user.name);
        const [notes] = loaded.useStore<{ text: string }>("notes");
        return <b>{room.name} {role} {name} {notes["1"]?.text} {loaded.useComments()[0].length} {loaded.useOthers().length} {loaded.useThreads()[0].total} {loaded.useRoomSubscriptionSettings()[0].threads}</b>;
      }
      export const App = ({ token }: { token: string }) => (
        <RoomProvider serverUrl="http://localhost" authToken={token}><View /><Ready /><loaded.ClientSideSuspense fallback={<i />}><Loaded /></loaded.ClientSideSuspense><AtriumProvider serverUrl="http://localhost" authToken={token}><Inbox /></AtriumProvider></RoomProvider>
      );`;
    expect(await compile(project, "bundler", { "app.tsx": view })).toBe("");
    const claims = { accountId: "a", roomId: "r", userId: "u", identityId: "i" };
    const token = `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2lnbmF0dXJl`;
    const script = `
      import { version } from "react";
      import { renderToString } from "react-dom/server";
      import { App } from "./app.js";
      console.log(version.split(".")[0], renderToString(App({ token: ${JSON.stringify(token)} })));`;
    await writeFile(path.join(project, "render.js"), script);
    const esbuild = [bin("esbuild/bin/esbuild"), "app.tsx", "--jsx=automatic", "--outfile=app.js"];
    await succeed(process.execPath, [...esbuild, "--log-level=error"], project);
    const html = (await succeed(process.execPath, ["render.js"], project)).replaceAll(/<!--.*?-->/g, "");
    expect(html.trim()).toBe(
      `${major} <p>connecting 0,0,0,,function,0,0 undefined undefined undefined</p>${COMPONENTS}<i></i>${INBOX}`,
    );
  });

  it("has the types that an application registers", async () => {
    const project = path.join(directory, "react-19");
    expect(await compile(project, "bundler", { "registered.tsx": REGISTERED })).toBe("");
  });
});
