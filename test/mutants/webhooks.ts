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
    file: "src/platform/crypto/standard-webhooks.ts",
    code: `\`\${id}.\${timestampSeconds}.\${body}\``,
    by: `\`\${id}.\${body}\``,
    tests: ["test/platform/standard-webhooks.test.ts"],
  },
  {
    bug: "a redirect is followed",
    file: "src/features/webhooks/attempt.ts",
    code: 'redirect: "manual",',
    by: 'redirect: "follow",',
    tests: ["test/webhooks/attempt.test.ts"],
  },
  {
    bug: "a URL that is no longer allowed is reached",
    file: "src/features/webhooks/attempt.ts",
    code: `if (problem !== null) return withoutResponse(failed("target", \`The URL \${problem}\`));`,
    by: "",
    tests: ["test/webhooks/attempt.test.ts"],
  },
  {
    bug: "a request goes out unsigned",
    file: "src/features/webhooks/attempt.ts",
    code: "...(await signatureHeaders(message, destination.secrets)),",
    by: "",
    tests: ["test/webhooks/attempt.test.ts"],
  },
  {
    bug: "a webhook that was changed during a 410 is switched off by it",
    file: "src/features/webhooks/store.ts",
    code: ".where(and(byId(tenant, id), eq(webhooks.updatedAt, version)))",
    by: ".where(byId(tenant, id))",
    tests: ["test/webhooks/deliveries.test.ts", "test/delivery/subscriber-object.test.ts"],
  },
  {
    bug: "a rotated secret signs for ever",
    file: "src/features/webhooks/webhook-handler.ts",
    code: "previousSecret !== null && now < (previousSecretUntil ?? 0) ?",
    by: "previousSecret !== null ?",
    tests: ["test/webhooks/deliveries.test.ts"],
  },
  {
    bug: "webhooks may call the service itself",
    file: "src/features/webhooks/commands.ts",
    code: "ownHosts: [...ctx.ownHosts, ownHost],",
    by: "ownHosts: [],",
    tests: ["test/webhooks/webhooks.test.ts", "test/http/public-origin.test.ts"],
  },
  {
    bug: "a disabled webhook receives what is pending",
    file: "src/features/webhooks/webhook-handler.ts",
    code: "if (row.enabled === 0) {",
    by: "if (row.enabled === 2) {",
    tests: ["test/webhooks/deliveries.test.ts", "test/delivery/subscriber-object.test.ts"],
  },
  {
    bug: "a receiver that has proven nothing gets many events at once",
    file: "src/features/webhooks/in-flight.ts",
    code: "probeAt > 0 || !isProven",
    by: "probeAt > 0",
    tests: ["test/webhooks/in-flight.test.ts"],
  },
  {
    bug: "a webhook that has failed for years stays enabled",
    file: "src/features/webhooks/receiver-health.ts",
    code: "failingSince !== null && now - failingSince >= MAX_FAILING_MS",
    by: "failingSince === 0",
    tests: ["test/webhooks/retry.test.ts"],
  },
];
