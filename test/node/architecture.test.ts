/** Guards the architecture: which way imports point, where SQL and Hono may be, and the form of source files. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { COMMENT, cyclesOf, graphOf, nodeOf, SRC, sources, startOf } from "./house/sources.ts";

const ROOT = path.join(SRC, "..");
const SDK: { readonly exports: object } = JSON.parse(
  readFileSync(path.join(ROOT, "packages/sdk/package.json"), "utf8"),
);

/** The feature of a file, as in `features/rooms`, or its top-level folder. */
const featureOf = (file: string): string => {
  const [top = "", second = ""] = path.dirname(file).split(path.sep);
  return top === "features" ? `${top}/${second}` : top;
};
const isPackage = (target: string, name: string): boolean => target === name || target.startsWith(`${name}/`);

/** `importer → imported` for every import that breaks the rule. */
const offences = (isAllowed: (importer: string, imported: string) => boolean): string[] =>
  sources.flatMap(({ file, imports }) =>
    imports.filter((imported) => !isAllowed(file, imported)).map((imported) => `${file} → ${imported}`),
  );

/** Stores and tables of D1, the storage of Durable Objects, and the commands that reach D1 through wrangler. */
const SQL_FILES =
  /(^|\/)([a-z]+-)*(store|table|statement)s?\.ts$|^platform\/d1\/(d1|account-rows|expiry|ordering)\.ts$|^room\/storage\/|^delivery\/subscriber\/|^cli\/(database|database-export|organization|person)\.ts$/;
const SQL =
  /(?:["'`]|\n)\s*(?:SELECT\s[^"'`]*\sFROM|INSERT (?:OR \w+ )?INTO|UPDATE \w+ SET|DELETE FROM|CREATE (?:TABLE|INDEX))\b/;
const HTTP_FILES =
  /^app\.ts$|^http\/|(^|\/)routes\.ts$|^dashboard\/|^@atrium\/docs\/page\.ts$|^features\/people\/cookies\.ts$/;
/** Decide without doing: exact in tests, because nothing of the platform is in them. */
const PURE_FILES: readonly string[] = [
  "delivery/event-log/log-page.ts",
  "delivery/event-log/shards.ts",
  "features/files/file-name.ts",
  "features/files/storage/media-type.ts",
  "features/files/storage/range.ts",
  "http/form/form-parser.ts",
  "platform/flow/fair-queue.ts",
  "platform/network.ts",
  "platform/crypto/standard-webhooks.ts",
  "features/accounts/api-key.ts",
  "features/webhooks/receiver-health.ts",
  "delivery/subscriber/scheduler.ts",
];
/** The same, by folders. */
const PURE_FOLDERS: readonly RegExp[] = [
  /^room\/(documents|engine|protocol|types)\/.+\.ts$/,
  /^room\/transport\/(?!(attachment|sockets)\.ts$).+\.ts$/,
  /^room\/storage\/(?!.*sqlite).+\.ts$/,
  /^@atrium\/contract\//,
  /^platform\/token-claims\.ts$/,
  /^sandbox\/compile\/.+(?<!\.d)\.ts$/,
];
const isPure = (file: string): boolean =>
  PURE_FILES.includes(file) || PURE_FOLDERS.some((folder) => folder.test(file));

describe("the sources", () => {
  it("are found, with their imports", () => {
    expect(sources.length).toBeGreaterThan(40);
    expect(sources.flatMap(({ imports }) => imports).length).toBeGreaterThan(150);
  });

  it("have all pure files that are named here", () => {
    const files = sources.map(({ file }) => file);
    expect(PURE_FILES.filter((file) => !files.includes(file))).toEqual([]);
    expect(PURE_FOLDERS.filter((folder) => !files.some((file) => folder.test(file)))).toEqual([]);
  });

  it("have SQL in stores, tables and the storage of objects only, and Hono in the HTTP layer only", () => {
    expect(offences((file, target) => !isPackage(target, "drizzle-orm") || SQL_FILES.test(file))).toEqual([]);
    expect(
      sources
        .filter(({ file, text }) => !SQL_FILES.test(file) && SQL.test(text.replace(COMMENT, "")))
        .map(({ file }) => file),
    ).toEqual([]);
    expect(offences((file, target) => !isPackage(target, "hono") || HTTP_FILES.test(file))).toEqual([]);
  });

  it("keep the room apart from the rest of the service, which fills its ports", () => {
    const isBelow = (target: string) =>
      /^(room|platform|@atrium\/contract)\//.test(target) || !known.has(target);
    const known = new Set(sources.map(({ file }) => file));
    expect(offences((file, target) => !file.startsWith("room/") || isBelow(target))).toEqual([]);
  });

  it("import no store of a feature from outside: others have its commands, queries and statements", () => {
    // The stores of delivery, platform and http are below all features, and made for them.
    const isStore = (target: string) => /^(features|demo)\/(.*[/-])?store\.ts$/.test(target);
    const isForeign = (file: string, target: string) => featureOf(target) !== featureOf(file);
    expect(offences((file, target) => !isStore(target) || !isForeign(file, target))).toEqual([]);
  });

  it("keep the platform out of the pure files", () => {
    const isPlatform = (target: string) =>
      ["cloudflare:workers", "hono", "drizzle-orm"].some((name) => isPackage(target, name));
    expect(offences((file, target) => !isPure(file) || !isPlatform(target))).toEqual([]);
  });

  it("give the SDK the contract's types and those of its modules that need no zod, and no package but React, Yjs with its own, and the signature library", () => {
    const sdk = sources.filter(({ file }) => featureOf(file) === "atrium");
    const isOwn = (target: string) => isPackage(target, "atrium");
    const loaded = sdk.flatMap(({ loads }) => loads).filter((target) => !isOwn(target));
    const isAllowed = (target: string) =>
      /^@atrium\/contract\/((close-codes|merge-patch|no-access)\.ts$|pacing\/)/.test(target) ||
      ["react", "yjs", "y-protocols", "lib0", "standardwebhooks"].some((name) => isPackage(target, name));
    expect(loaded.filter((target) => !isAllowed(target))).toEqual([]);
    const foreign = sdk.flatMap(({ imports }) => imports).filter((target) => !isOwn(target));
    const isOfContract = (target: string) => isPackage(target, "@atrium/contract");
    expect(foreign.filter((target) => !isAllowed(target) && !isOfContract(target))).toEqual([]);
    expect(sdk.flatMap(({ loads }) => loads).length).toBeGreaterThan(20);
  });

  it("import another workspace by an entry that it declares, and never by a path into it", () => {
    const entries = Object.keys(SDK.exports).map((name) => name.replace("./", "atrium/"));
    const isPath = (target: string) => /(^|\/)packages\//.test(target);
    const isInside = (target: string) => isPackage(target, "atrium") && !entries.includes(target);
    const isOwn = (file: string) => isPackage(file, "atrium");
    const generated = "atrium/workflow/declarations";
    expect(
      offences(
        (file, target) => !isPath(target) && (isOwn(file) || !isInside(target) || target === generated),
      ),
    ).toEqual([]);
  });

  it("declare the contract with zod and nothing else", () => {
    const contract = (name: string) => name.startsWith("@atrium/contract/");
    expect(sources.filter(({ file }) => contract(file)).length).toBeGreaterThan(20);
    expect(offences((file, target) => !contract(file) || contract(target) || target === "zod")).toEqual([]);
  });

  it("contain no import cycle, types included: move what both files need into a third one", () => {
    expect(cyclesOf(graphOf((file) => file))).toEqual([]);
  });

  it("contain no cycle between folders: move what both need into a folder of its own, or declare a port", () => {
    expect(cyclesOf(graphOf(nodeOf))).toEqual([]);
  });

  it("import each other in one direction only, as top-level folders", () => {
    const topOf = (file: string): string => file.split("/")[0] ?? file;
    const graph = graphOf(topOf);
    const isImported = (from: string, to: string) => graph.get(from)?.has(to) === true;
    const pairs = [...graph].flatMap(([one, others]) =>
      [...others]
        .filter((other) => one < other && isImported(other, one))
        .map((other) => `${one} and ${other}`),
    );
    expect(pairs).toEqual([]);
  });

  it("re-export no statements of a store: they are imported from where they are", () => {
    const reexports = sources.flatMap(({ file, text }) =>
      [...text.matchAll(/export\s*\{[^}]*\}\s*from\s*"[^"]*store\.ts"/g)]
        .filter(() => featureOf(file) !== "atrium")
        .map(([line]) => `${file}: ${line}`),
    );
    expect(reexports).toEqual([]);
  });

  it("import the entry points nowhere", () => {
    expect(
      offences(
        (file, target) =>
          !["index.ts", "app.ts", "composition.ts"].includes(target) || ["index.ts", "app.ts"].includes(file),
      ),
    ).toEqual([]);
  });

  it("read customers' code in the compiler alone, which the pool loads, and the service when it compiles without one", () => {
    const isCompiler = (file: string) => file.startsWith("sandbox/compile/");
    const readers = sources.filter(({ file, loads }) => !isCompiler(file) && loads.some(isCompiler));
    expect(readers.map(({ file }) => file)).toEqual(["sandbox/runners/program-worker.ts"]);
    const parsing = sources.filter(({ loads }) => loads.some((target) => isPackage(target, "@babel/parser")));
    expect(parsing.filter(({ file }) => !isCompiler(file))).toEqual([]);
  });

  it("do the work of passwords in an object, which has the processor time for it, and on the command line", () => {
    const importers = (imported: string) =>
      sources.filter(({ imports }) => imports.includes(imported)).map(({ file }) => file);
    expect(importers("features/people/password.ts").toSorted()).toEqual([
      "cli/person.ts",
      "features/people/guess-limit-object.ts",
    ]);
    const withScrypt = sources.filter(({ text }) => /\bscrypt/.test(text.replace(COMMENT, "")));
    expect(withScrypt.map(({ file }) => file)).toEqual(["features/people/password.ts"]);
  });

  it("open every object by one function, which knows where the deployment keeps its data", () => {
    const openers = /\.(getByName|idFromName|idFromString|newUniqueId)\(/;
    const files = sources.filter(({ text }) => openers.test(text)).map(({ file }) => file);
    expect(files).toEqual(["platform/objects/rpc.ts"]);
  });

  it("verify passkeys there as well: loading the library takes more than a request of the Worker has", () => {
    const loaders = (name: string) =>
      sources.filter(({ loads }) => loads.includes(name)).map(({ file }) => file);
    expect(loaders("@simplewebauthn/server")).toEqual(["platform/crypto/web-authn.ts"]);
    const users = sources.filter(({ text }) => text.includes('import("../../platform/crypto/web-authn.ts")'));
    expect(users.map(({ file }) => file)).toEqual(["features/people/guess-limit-object.ts"]);
  });

  it("turn a room's id into its stub in one place", () => {
    const stubs = sources.filter(({ text }) => /\benv\.ROOMS\b/.test(text)).map(({ file }) => file);
    expect(stubs).toEqual(["room/host/gateway.ts"]);
  });

  it("turn a subscriber's key into its stub in one place", () => {
    const stubs = sources.filter(({ text }) => /\benv\.SUBSCRIBERS\b/.test(text)).map(({ file }) => file);
    expect(stubs).toEqual(["delivery/subscribers.ts"]);
  });

  it("say in their first line what the file is for", () => {
    expect(sources.filter(({ text }) => !text.startsWith("/**")).map(({ file }) => file)).toEqual([]);
  });
});

describe("an isolate", () => {
  const started = sources.filter(({ file }) => startOf("index.ts").has(file)).map(({ file }) => file);

  const known = new Set(sources.map(({ file }) => file));
  const loads = sources.filter(({ file }) => started.includes(file)).flatMap(({ loads }) => loads);

  it("begins without the endpoints, the cron's tasks, the compiler, and the engine of rooms", () => {
    expect(started).toContain("room/host/room-object.ts");
    const isLate = (file: string) =>
      /\/([a-z]+-)*routes(-[a-z]+)*\.ts$|^scheduled\.ts$|^sandbox\/compile\/|^room\/(engine|documents)\//.test(
        file,
      );
    expect(started.filter(isLate).sort()).toEqual(["dashboard/routes.ts"]);
  });

  it("begins with the packages that most requests need: others are loaded with the first use of them", () => {
    const packages = loads
      .filter((target) => !known.has(target) && !target.startsWith("."))
      .map((target) => (target.startsWith("@") ? target : target.replace(/\/.*/, "")));
    expect([...new Set(packages)].sort()).toEqual([
      "cloudflare:workers",
      "drizzle-orm",
      "hono",
      "ipaddr.js",
      "jose",
      "node:crypto",
      "node:zlib",
      "zod",
    ]);
  });

  it("begins with few shapes: each is made of objects that most requests do without", () => {
    const shapes = /contract\/(rest|operations)\/|contract\/resources\/(events|comment|thread)\.ts$/;
    expect([...new Set(loads.filter((target) => shapes.test(target)))].sort()).toEqual([
      "@atrium/contract/operations/values.ts",
    ]);
  });
});

describe("the protocol", () => {
  const protocol = readFileSync(path.join(ROOT, "docs/protocol.md"), "utf8");
  const rules = [...protocol.matchAll(/^- \*\*([RDSG]\d+)\*\*/gm)].map(([, rule = ""]) => rule);
  const titles = globSync("{room,room-content,access,inbox}/**/*.ts", {
    cwd: path.join(ROOT, "test"),
  }).flatMap((file) => {
    const text = readFileSync(path.join(ROOT, "test", file), "utf8");
    return [...text.matchAll(/\(([RDSG]\d+[^)]*)\)/g)].map(([, quoted = ""]) => quoted);
  });
  const quoted = new Set(
    titles.flatMap((title) =>
      title.split(", ").flatMap((part) => {
        const [first = 0, last = first] = [...part.matchAll(/\d+/g)].map(Number);
        const letter = /^[DSG]/.exec(part)?.[0] ?? "R";
        return Array.from({ length: last - first + 1 }, (_, index) => `${letter}${first + index}`);
      }),
    ),
  );

  it("numbers its rules without a gap, and each is quoted by a test's title", () => {
    for (const letter of ["R", "D", "S", "G"]) {
      const numbered = rules.filter((rule) => rule.startsWith(letter));
      expect(numbered).toEqual(numbered.map((_, index) => `${letter}${index + 1}`));
    }
    expect(rules.filter((rule) => !quoted.has(rule))).toEqual([]);
    expect([...quoted].filter((rule) => !rules.includes(rule))).toEqual([]);
  });
});

it("each Worker of the benchmarks exports the objects of wrangler.toml: it does not start otherwise", () => {
  const settings = readFileSync(path.join(ROOT, "wrangler.toml"), "utf8");
  const objects = new Set([...settings.matchAll(/class_name = "(\w+)"/g)].map(([, name = ""]) => name));
  const workers = path.join(ROOT, "test/node/bench/workers");
  const lacking = globSync("*.ts", { cwd: workers }).flatMap((file) => {
    const text = readFileSync(path.join(workers, file), "utf8");
    if (!text.includes("export default")) return [];
    return [...objects].filter((name) => !text.includes(name)).map((name) => `${file}: ${name}`);
  });
  expect(objects.size).toBeGreaterThan(3);
  expect(lacking).toEqual([]);
});

describe("the style sheets", () => {
  /** Of the service's own pages, and of the components that applications load. */
  const TOKENS = ["packages/style/tokens.css", "packages/sdk/react-ui/tokens.css"];
  const declarations = globSync("{src,packages,examples/demo}/**/*.css", {
    cwd: ROOT,
    exclude: ["**/node_modules"],
  })
    .filter((file) => !TOKENS.includes(file))
    .flatMap((file) => {
      const text = readFileSync(path.join(ROOT, file), "utf8").replace(/\/\*.*?\*\//gs, "");
      const found = text.matchAll(/(?<=[{;]\s*)([\w-]+):\s*([^;{}]+);/g);
      return [...found].map(([, property = "", value = ""]) => ({ file, property, value }));
    });
  const offending = (property: RegExp, value: RegExp): string[] =>
    declarations
      .filter((one) => property.test(one.property) && value.test(one.value))
      .map((one) => `${one.file} → ${one.property}: ${one.value}`);

  it("take their colors from the tokens", () => {
    expect(declarations.length).toBeGreaterThan(500);
    const literal =
      /#[0-9a-f]{3,8}\b|\b(rgba?|hsla?|hwb|oklch|light-dark)\(|(?<!-)\b(white|black|gr[ae]y|red|blue)\b/i;
    expect(offending(/./, literal)).toEqual([]);
  });

  it("take sizes of text and distances from the scales, but for hairlines", () => {
    const distance = /^(font|font-size|(margin|padding)(-\w+)*|((row|column)-)?gap)$/;
    expect(offending(distance, /(?<![\w.-])(?!1px)[\d.]+(px|r?em|ch|pt)\b/)).toEqual([]);
  });
});
