/** What a subscriber's handler may use of its row while it changes. */
import { expect, it } from "vitest";
import { CachedRow } from "../../src/platform/cache.ts";

it("a row that a change overtakes while it is read is not used, and is read again", async () => {
  const reads: PromiseWithResolvers<string>[] = [];
  const load = () => {
    const read = Promise.withResolvers<string>();
    reads.push(read);
    return read.promise;
  };
  const cached = new CachedRow<string>(load, () => 0);
  const used = cached.get();
  cached.requireVersion(2);
  const alsoUsed = cached.get();
  reads[0]?.resolve("version 1");
  reads[1]?.resolve("version 2");
  expect(await Promise.all([used, alsoUsed])).toEqual(["version 2", "version 2"]);
  expect(reads).toHaveLength(2);
});
