/** Allowed URLs of webhooks, in every spelling that `fetch` understands. */
import { exports } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  findTargetProblem,
  isPublicAddress,
  parseHosts,
  type TargetPolicy,
  targetFetch,
} from "../../src/platform/network.ts";

const PRODUCTION = { devTargets: [], ownHosts: ["atrium.example"] };
const DEVELOPMENT = { devTargets: parseHosts("127.0.0.1,localhost"), ownHosts: ["localhost:8787"] };

const PRIVATE = "must not be a private or reserved address";
const LITERAL = "must name a host instead of an IP address";
const INTERNAL = "must not name an internal host";

const problemOf = (address: string, policy: TargetPolicy = PRODUCTION) => findTargetProblem(address, policy);

/** Blocks of version 4 that are not public, as `[first address, prefix length]`. */
const RESERVED: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  ["255.255.255.255", 32],
];
const numberOf = (dotted: string): number =>
  dotted.split(".").reduce((value, part) => value * 256 + Number(part), 0);
const partsOf = (value: number): number[] => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255);

const reserved = fc
  .constantFrom(...RESERVED)
  .chain(([first, length]) =>
    fc.nat(2 ** (32 - length) - 1).map((offset) => (numberOf(first) + offset) >>> 0),
  );
const publicAddress = fc
  .constantFrom(
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "172.15.255.255",
    "172.32.0.0",
    "100.63.255.255",
    "11.0.0.0",
  )
  .map(numberOf);

const radix = fc.constantFrom(
  (part: number) => String(part),
  (part: number) => `0x${part.toString(16)}`,
  (part: number) => `0X${part.toString(16).toUpperCase()}`,
  (part: number) => `0${part.toString(8)}`,
  (part: number) => `000${part.toString(8)}`,
);
const FULL_WIDTH = (text: string) =>
  text.replaceAll(/[0-9a-fx]/gi, (char) => String.fromCodePoint((char.codePointAt(0) ?? 0) + 0xfee0));
const disguise = fc.constantFrom(
  (text: string) => text,
  (text: string) => `${text}.`,
  FULL_WIDTH,
  (text: string) => text.replaceAll(".", "。"),
  (text: string) => text.replaceAll(/\d/g, (digit) => `%3${digit}`),
);

/** An address of version 4 in one to four parts, each in a radix of its own, and disguised. */
const spelt = (address: fc.Arbitrary<number>) =>
  fc
    .tuple(address, fc.integer({ min: 1, max: 4 }), fc.array(radix, { minLength: 4, maxLength: 4 }), disguise)
    .map(([value, count, radices, disguised]) => {
      const bytes = partsOf(value);
      const last = bytes.slice(count - 1).reduce((sum, byte) => sum * 256 + byte, 0);
      const parts = [...bytes.slice(0, count - 1), last];
      return disguised(parts.map((part, index) => radices[index]?.(part) ?? "").join("."));
    });

const hextets = (value: number): string => `${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}`;

describe("an IP address as the host", () => {
  it("is recognized as private in every spelling", () => {
    fc.assert(
      fc.property(spelt(reserved), (host) => {
        expect(problemOf(`https://${host}/hook`), host).toBe(PRIVATE);
      }),
      { numRuns: 2000 },
    );
  });

  it("is refused even when public, in every spelling", () => {
    fc.assert(
      fc.property(spelt(publicAddress), (host) => {
        expect(problemOf(`https://${host}/hook`), host).toBe(LITERAL);
      }),
      { numRuns: 500 },
    );
  });

  it("is private in IPv6 whenever it wraps an IPv4 address", () => {
    const wrapped = fc
      .tuple(
        fc.oneof(reserved, publicAddress),
        fc.constantFrom(
          (v4: number) => `::ffff:${partsOf(v4).join(".")}`,
          (v4: number) => `0:0:0:0:0:FFFF:${hextets(v4)}`,
          (v4: number) => `::${hextets(v4)}`,
          (v4: number) => `::ffff:0:${hextets(v4)}`,
          (v4: number) => `2002:${hextets(v4)}::`,
          (v4: number) => `2002:${hextets(v4)}::1`,
          (v4: number) => `64:ff9b::${hextets(v4)}`,
          (v4: number) => `64:ff9b:1::${hextets(v4)}`,
          (v4: number) => `2001:0:${hextets(v4)}:0:0:0:1`,
          (v4: number) => `2001::${hextets(v4)}`,
        ),
      )
      .map(([value, wrap]) => wrap(value));
    fc.assert(
      fc.property(wrapped, (address) => {
        expect(problemOf(`https://[${address}]/`), address).toBe(PRIVATE);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    "::",
    "::1",
    "0000:0000:0000:0000:0000:0000:0000:0001",
    "fe80::1",
    "febf::1",
    "fec0::1",
    "fc00::1",
    "fd12:3456::1",
    "ff02::1",
    "ff0e::1",
    "100::1",
    "2001:db8::1",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "3fff::1",
    "5f00::1",
    "4000::1",
    "fd00:ec2::254",
  ])("[%s] is private", (address) => expect(problemOf(`https://[${address}]:443/`)).toBe(PRIVATE));

  it.each(["2606:4700:4700::1111", "2A00:1450::8A", "2620:fe::9"])("[%s] is public", (address) => {
    expect(isPublicAddress(address)).toBe(true);
    expect(problemOf(`https://[${address}]/`)).toBe(LITERAL);
  });

  it.each([
    "[fe80::1%25eth0]",
    "[::1",
    "256.256.256.256",
    "1.2.3.4.5",
    "0x100000000",
    "4294967296",
    "1.2.3.09",
  ])("%s is none, and no name either", (host) =>
    expect(problemOf(`https://${host}/`)).toBe("must be a URL of at most 2048 characters"),
  );
});

describe("a host name", () => {
  it.each([
    "https://hooks.example.com",
    "HTTPS://Hooks.Example.COM:443/a?b=c%00&d=ä",
    "https://example.com.:8443/",
    "https://xn--bcher-kva.de/",
    "https://bücher.de/",
    "https://１.example.com",
    "https:\\\\example.com\\hook",
    " https://example.com/ ",
    "https://localhost.example.com",
    "https://127.0.0.1.example.com",
  ])("%s may be sent to", (address) => expect(problemOf(address)).toBeNull());

  it.each([
    "foo.local",
    "metadata.google.internal",
    "x.localhost",
    "X.LOCALHOST.",
    "ｘ．ｌｏｃａｌｈｏｓｔ",
    "1.0.0.127.in-addr.arpa",
    "router.home.arpa",
    "abcdef.onion",
    "server.lan",
    "intra.corp",
    "db.private",
    "name.test",
    "name.invalid",
    "xn--bcher-kva.internal",
  ])("%s is internal", (host) => expect(problemOf(`https://${host}/`)).toBe(INTERNAL));

  it.each([
    "localhost",
    "LOCALHOST.",
    "ｌｏｃａｌｈｏｓｔ",
    "loc%61lhost",
    "atrium",
    "metadata",
    "localhost..",
    "a..com",
    ".com",
  ])("%s is not public", (host) => expect(problemOf(`https://${host}/`)).toBe("must name a public host"));

  it("is never this service's own, in any spelling or with any port", () => {
    for (const ownHost of ["atrium.example.com", "atrium.example.com:8443", "ATRIUM.example.com."]) {
      for (const host of ["atrium.example.com", "ATRIUM.EXAMPLE.com.", "ａtrium.example.com:8443"]) {
        expect(
          problemOf(`https://${host}/v1`, { devTargets: [], ownHosts: ["first.example.com", ownHost] }),
        ).toBe("must not lead back to this service");
      }
    }
    expect(
      problemOf("https://other.example.com", { devTargets: [], ownHosts: ["atrium.example.com"] }),
    ).toBeNull();
  });
});

describe("the rest of the URL", () => {
  it.each([
    ["http://example.com", "must begin with https://"],
    ["ftp://example.com", "must begin with https://"],
    ["wss://example.com", "must begin with https://"],
    ["data:text/plain,x", "must begin with https://"],
    ["javascript:alert(1)", "must begin with https://"],
    ["file:///etc/passwd", "must begin with https://"],
    ["https://ada@example.com", "must not contain a user name or password"],
    ["https://:secret@example.com", "must not contain a user name or password"],
    ["https://example.com%40127.0.0.1@example.org", "must not contain a user name or password"],
    ["https://example.com/#top", "must not have a fragment"],
    ["https://example.com/#", "must not have a fragment"],
    ["https://example.com:80", "must use port 443 or 8443"],
    ["https://example.com:22", "must use port 443 or 8443"],
    ["https://example.com:65535", "must use port 443 or 8443"],
    ["https://example.com:65536", "must be a URL of at most 2048 characters"],
    ["example.com", "must be a URL of at most 2048 characters"],
    ["//example.com", "must be a URL of at most 2048 characters"],
    ["https://", "must be a URL of at most 2048 characters"],
    ["", "must be a URL of at most 2048 characters"],
  ])("%s", (address, problem) => expect(problemOf(address)).toBe(problem));

  it("has at most 2,048 characters", () => {
    const long = `https://example.com/${"x".repeat(2028)}`;
    expect([problemOf(long), problemOf(`${long}x`)]).toEqual([
      null,
      "must be a URL of at most 2048 characters",
    ]);
  });

  it("allows nothing but https to a host name, whatever the input", () => {
    const anything = fc.oneof(
      fc.webUrl({ withFragments: true, withQueryParameters: true }),
      fc.string({ unit: "binary" }),
      fc
        .tuple(fc.constantFrom("https://", "http://", "HTTPS:", "//"), fc.string())
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(anything, (address) => {
        if (problemOf(address) !== null) return;
        const url = new URL(address);
        expect([url.protocol, url.username, url.password, url.hash]).toEqual(["https:", "", "", ""]);
        expect(url.hostname).toMatch(/^[a-z0-9._-]+\.[a-z0-9_-]*[a-z_-][a-z0-9_-]*\.?$/);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("development hosts", () => {
  it.each([
    "http://127.0.0.1:3000/hook",
    "http://localhost:3000",
    "http://LOCALHOST.:3000",
    "http://2130706433:3000",
    "http://0x7f.1:1",
    "https://localhost",
    "https://127.0.0.1:9999",
    "https://example.com",
  ])("%s", (address) => expect(problemOf(address, DEVELOPMENT)).toBeNull());

  it.each([
    "http://127.0.0.2:3000",
    "http://[::1]:3000",
    "http://10.0.0.1",
    "http://example.com",
    "https://foo.localhost",
  ])("is what is named, not %s", (address) => expect(problemOf(address, DEVELOPMENT)).not.toBeNull());

  it.each([
    "http://localhost:8787/v1",
    "http://127.0.0.1:8787",
    "https://localhost.:8787",
    "http://2130706433:8787",
  ])("is not this service under a loopback name: %s", (address) =>
    expect(problemOf(address, DEVELOPMENT)).toBe("must not lead back to this service"),
  );

  it("are parsed from a list with spaces, capitals and IP addresses", () => {
    expect(parseHosts(" LocalHost. , 127.1,::1,[::1],, receiver.internal ")).toEqual([
      "localhost",
      "127.0.0.1",
      "::1",
      "::1",
      "receiver.internal",
    ]);
    expect(parseHosts("")).toEqual([]);
  });
});

it("is connected to by the network for it, unless its host is a development target", async () => {
  const fetchTarget = targetFetch(exports.default, ["127.0.0.1"]);
  expect((await fetchTarget("https://receiver.test/health")).status).toBe(200);
  await expect(fetchTarget("http://127.0.0.1:1/health")).rejects.toThrow();
});
