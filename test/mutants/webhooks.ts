/** Bugs in webhooks. */
import type { Mutant } from "./mutant.ts";

export const WEBHOOKS: readonly Mutant[] = [
  {
    bug: "a URL may lead back to the service",
    file: "src/platform/target.ts",
    code: 'if (ownHosts.some((ownHost) => isOwn(url, ownHost))) return "must not lead back to this service";',
    by: "",
    tests: ["test/platform/target.test.ts"],
  },
  {
    bug: "private IPv6 addresses count as public",
    file: "src/platform/target.ts",
    code: 'parsed.range() === "unicast" && parsed.match(GLOBAL_UNICAST_V6) &&',
    by: 'parsed.range() === "unicast" &&',
    tests: ["test/platform/target.test.ts"],
  },
  {
    bug: "the time of a message is not signed",
    file: "src/platform/standard-webhooks.ts",
    code: `\`\${id}.\${timestampSeconds}.\${body}\``,
    by: `\`\${id}.\${body}\``,
    tests: ["test/platform/standard-webhooks.test.ts"],
  },
];
