/** Holds the house in shape: which way imports may point, how long files grow, and that each says what it is for. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const SRC = path.join(import.meta.dirname, "../src");
const MAX_LINES = 400;

interface Source {
  /** Below src, as in `rooms/store.ts`. */
  readonly file: string;
  readonly text: string;
  /** Packages by name, our own files below src. */
  readonly imports: readonly string[];
  /** Those of them that are more than types, and so are there when it runs. */
  readonly loads: readonly string[];
}

const IMPORT = /(?:^|\n)\s*(?:import|export)\b(\s+type\b)?(?:[^;"'=()]*?\bfrom)?\s*["']([^"']+)["']/g;

function read(file: string): Source {
  const text = readFileSync(path.join(SRC, file), "utf8");
  const found = [...text.matchAll(IMPORT)].map(([, isType, target = ""]) => ({
    isType: isType !== undefined,
    target: target.startsWith(".") ? path.join(path.dirname(file), target) : target,
  }));
  const loaded = found.filter(({ isType }) => !isType);
  return {
    file,
    text,
    imports: found.map(({ target }) => target),
    loads: loaded.map(({ target }) => target),
  };
}

const sources = globSync("**/*.{ts,tsx}", { cwd: SRC }).map(read);

const featureOf = (file: string): string => path.dirname(file).split(path.sep)[0] ?? "";
const isPackage = (target: string, name: string): boolean => target === name || target.startsWith(`${name}/`);

/** `importer → imported` for every import that breaks the rule. */
const offences = (isAllowed: (importer: string, imported: string) => boolean): string[] =>
  sources.flatMap(({ file, imports }) =>
    imports.filter((imported) => !isAllowed(file, imported)).map((imported) => `${file} → ${imported}`),
  );

const SQL_FILES = /(^|\/)(store|table)\.ts$|^delivery\/outbox-store\.ts$|^platform\/d1\.ts$/;
const HTTP_FILES = /^app\.ts$|^http\/|(^|\/)routes\.ts$|^dashboard\/|^people\/sign-in-cookie\.ts$/;
/** Decide without doing: exact in tests, because nothing of the platform is in them. */
const PURE_FILES =
  /^realtime\/(room|room-updates|requests|snapshots)\.ts$|^realtime\/(content|messaging|outbox|participants|presence|protocol)\/.+\.ts$|^realtime\/join\/join-.+\.ts$|^realtime\/transport\/(?!(attachment|sockets)\.ts$).+\.ts$|^realtime\/storage\/(?!.*sqlite).+\.ts$|^files\/(file-key|media-type|file-name|range)\.ts$|^http\/form\/form-parser\.ts$|^platform\/(text|time)\.ts$|^accounts\/api-key\.ts$|^webhooks\/(read-response|retry|sign|target)\.ts$|^delivery\/(events|subscriber\/scheduler)\.ts$|^sandbox\/compile\/.+(?<!\.d)\.ts$/;

describe("the house", () => {
  it("has rooms to look at", () => {
    expect(sources.length).toBeGreaterThan(40);
    expect(sources.flatMap(({ imports }) => imports).length).toBeGreaterThan(150);
    expect(sources.filter(({ file }) => PURE_FILES.test(file))).toHaveLength(62);
  });

  it("keeps SQL in stores, and Hono at the doors", () => {
    expect(offences((file, target) => !isPackage(target, "drizzle-orm") || SQL_FILES.test(file))).toEqual([]);
    expect(offences((file, target) => !isPackage(target, "hono") || HTTP_FILES.test(file))).toEqual([]);
  });

  it("lets no feature reach into another one's store", () => {
    const isForeignStore = (file: string, target: string) =>
      target.endsWith("/store.ts") && featureOf(target) !== featureOf(file) && featureOf(target) !== "http";
    expect(offences((file, target) => !isForeignStore(file, target))).toEqual([]);
  });

  it("keeps the platform out of the pure files", () => {
    const isPlatform = (target: string) =>
      ["cloudflare:workers", "hono", "drizzle-orm"].some((name) => isPackage(target, name));
    expect(offences((file, target) => !PURE_FILES.test(file) || !isPlatform(target))).toEqual([]);
  });

  it("gives the client nothing of the Worker but types, and no package but React and what checks signatures", () => {
    const clients = sources.filter(({ file }) => featureOf(file) === "sdk");
    const loaded = clients.flatMap(({ loads }) => loads).filter((target) => featureOf(target) !== "sdk");
    const isAllowed = (target: string) =>
      ["react", "standardwebhooks"].some((name) => isPackage(target, name));
    expect(loaded.filter((target) => !isAllowed(target))).toEqual([]);
    const isShared = (target: string) => /(^|\/)(schema|events|protocol|comment)\.ts$/.test(target);
    const isForeign = (target: string) => target.endsWith(".ts") && featureOf(target) !== "sdk";
    const foreign = clients.flatMap(({ imports }) => imports).filter(isForeign);
    expect(foreign.filter((target) => !isShared(target))).toEqual([]);
    expect(clients.flatMap(({ loads }) => loads).length).toBeGreaterThan(20);
    const offending = offences((file, target) => featureOf(target) !== "sdk" || featureOf(file) === "sdk");
    expect(offending).toEqual([]);
  });

  it("lets nobody import the front door", () => {
    expect(
      offences((file, target) => !["index.ts", "app.ts"].includes(target) || file === "index.ts"),
    ).toEqual([]);
  });

  it("turns a room's id into its stub in one place", () => {
    const stubs = sources.filter(({ text }) => /\bROOMS\.get/.test(text)).map(({ file }) => file);
    expect(stubs).toEqual(["realtime/gateway.ts"]);
  });

  it("turns a subscriber's key into its stub in one place", () => {
    const stubs = sources.filter(({ text }) => /\bSUBSCRIBERS\.get/.test(text)).map(({ file }) => file);
    expect(stubs).toEqual(["delivery/subscriber-gateway.ts"]);
  });

  it("says in each file's first line what the file is for, and keeps files short", () => {
    const unnamed = sources.filter(({ text }) => !text.startsWith("/**")).map(({ file }) => file);
    const long = sources.filter(({ text }) => text.split("\n").length > MAX_LINES).map(({ file }) => file);
    expect({ unnamed, long }).toEqual({ unnamed: [], long: [] });
  });
});

describe("the protocol", () => {
  const protocol = readFileSync(path.join(SRC, "../docs/protocol.md"), "utf8");
  const rules = [...protocol.matchAll(/^- \*\*(R\d+)\*\*/gm)].map(([, rule = ""]) => rule);
  const titles = globSync("**/*.ts", { cwd: path.join(SRC, "../test/realtime") }).flatMap((file) => {
    const text = readFileSync(path.join(SRC, "../test/realtime", file), "utf8");
    return [...text.matchAll(/\((R\d+[^)]*)\)/g)].map(([, quoted = ""]) => quoted);
  });
  const quoted = new Set(
    titles.flatMap((title) =>
      title.split(", ").flatMap((part) => {
        const [first = 0, last = first] = [...part.matchAll(/\d+/g)].map(Number);
        return Array.from({ length: last - first + 1 }, (_, index) => `R${first + index}`);
      }),
    ),
  );

  it("numbers its rules without a gap, and each is quoted by a test's title", () => {
    expect(rules).toEqual(rules.map((_, index) => `R${index + 1}`));
    expect(rules.filter((rule) => !quoted.has(rule))).toEqual([]);
    expect([...quoted].filter((rule) => !rules.includes(rule))).toEqual([]);
  });
});
