/** The guide lists the quotas as the service has them. */
import { QUOTA_ENTRIES, QUOTAS, settingOf } from "@atrium/contract/resources/quota.ts";
import { expect, it } from "vitest";
import { readDocument } from "./markdown.ts";

const limitOf = (quota: (typeof QUOTAS)[number]): string => {
  const { fallback, unit } = QUOTA_ENTRIES[quota];
  return unit === "bytes" ? `${fallback / 1024 ** 3} GiB` : fallback.toLocaleString("en");
};

it("lists each quota with its default and its setting, in the order of the API", async () => {
  const guide = await readDocument("docs/guides/limits-and-quotas.md");
  const rows = guide.matchAll(/^\| `(\w+)`.* \| ([\d,]+(?: GiB)?) \| `(QUOTA_\w+)` \|$/gm);
  expect([...rows].map(([, ...cells]) => cells)).toEqual(
    QUOTAS.map((quota) => [quota, limitOf(quota), settingOf(quota)]),
  );
});
