/** What `npm run backup` copies, and in which order. That a service can be started on the copy is tested with the starts. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { inOrder } from "../../src/cli/archive/copy-state.ts";

const COPIED = [
  "v3/d1/miniflare-D1DatabaseObject/a.sqlite",
  "v3/do/atrium-RoomObject/b.sqlite",
  "v3/do/atrium-EventLogObject/d.sqlite",
  "v3/do/atrium-SubscriberObject/c.sqlite",
  "v3/r2/miniflare-R2BucketObject/e.sqlite",
  "v3/r2/atrium-files/blobs/f",
  "demo.json",
];
const OMITTED = [
  "lock.json",
  "lock.sqlite",
  "v3/d1/miniflare-D1DatabaseObject/a.sqlite-wal",
  "v3/d1/miniflare-D1DatabaseObject/a.sqlite-shm",
  "v3/do/atrium-RoomObject/b.sqlite-journal",
  "v3/cache/miniflare-CacheObject/g.sqlite",
  "v3/ratelimit/miniflare-RateLimiterObject/h.sqlite",
];

it("copies what hands something over before what it hands it to, and nothing that only a running service needs", () => {
  fc.assert(
    fc.property(fc.shuffledSubarray([...COPIED, ...OMITTED]), (files) => {
      expect(inOrder(files)).toEqual(COPIED.filter((file) => files.includes(file)));
    }),
  );
});
