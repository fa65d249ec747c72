/** Texts that are stored encrypted: for one place, by the deployment's secrets. */

import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { sealerFor } from "../../src/platform/crypto/sealer.ts";
import { createSecret, signatureHeaders } from "../../src/platform/crypto/standard-webhooks.ts";

const [OLD, NEW] = ["the first secret of a deployment", "the secret that has replaced it"];
const PLACE = ["organization", "workflow", "NAME"];

it("opens what it has sealed, which shows neither the text nor that two are the same", async () => {
  const sealer = sealerFor([OLD], "tests");
  const [one, other] = [await sealer.seal("ünïcode ✓", PLACE), await sealer.seal("ünïcode ✓", PLACE)];
  expect(await sealer.open(one, PLACE)).toBe("ünïcode ✓");
  expect(one.keyId).toBe(other.keyId);
  expect(one.sealed).not.toBe(other.sealed);
});

it("opens nothing for another place, by another purpose, with another secret, or that was changed", async () => {
  const sealer = sealerFor([OLD], "tests");
  const sealed = await sealer.seal("text", PLACE);
  const first = sealed.sealed.startsWith("A") ? "B" : "A";
  const changed = { ...sealed, sealed: first + sealed.sealed.slice(1) };
  await expect(sealer.open(sealed, ["organization", "workflow", "OTHER"])).rejects.toThrow();
  await expect(sealer.open(sealed, ["organization", "workflowNAME"])).rejects.toThrow();
  await expect(sealer.open(changed, PLACE)).rejects.toThrow();
  await expect(sealerFor([OLD], "other").open(sealed, PLACE)).rejects.toThrow("not known");
  await expect(sealerFor([NEW], "tests").open(sealed, PLACE)).rejects.toThrow("not known");
});

it("opens what a replaced secret has sealed, and seals with the new one", async () => {
  const sealed = await sealerFor([OLD], "tests").seal("text", PLACE);
  const rotated = sealerFor([NEW, OLD], "tests");
  expect(await rotated.open(sealed, PLACE)).toBe("text");
  expect(await rotated.replacedKeyIds()).toEqual([sealed.keyId]);
  expect((await rotated.seal("text", PLACE)).keyId).not.toBe(sealed.keyId);
});

// Signatures, checked by the library that receivers use and by the specification's published example.

const nowSeconds = () => Math.floor(Date.now() / 1000);

describe("a signature", () => {
  it("equals the specification's published example", async () => {
    const message = {
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      timestampSeconds: 1_614_265_330,
      body: '{"test": 2432232314}',
    };
    expect(await signatureHeaders(message, ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])).toEqual({
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    });
  });

  it("is verified by the standard library with each of the secrets, whatever the body", async () => {
    const body = fc.json({ noUnicodeString: false }).map((json) => `${json}`);
    await fc.assert(
      fc.asyncProperty(body, fc.uuid(), fc.integer({ min: 1, max: 2 }), async (text, id, count) => {
        const secrets = Array.from({ length: count }, () => createSecret());
        const message = { id, timestampSeconds: nowSeconds(), body: text };
        const headers = await signatureHeaders(message, secrets);
        for (const secret of secrets) {
          expect(new Webhook(secret).verify(text, headers)).toEqual(JSON.parse(text));
        }
        expect(() => new Webhook(createSecret()).verify(text, headers)).toThrow("No matching signature");
        expect(() => new Webhook(secrets[0] ?? "").verify(`${text} `, headers)).toThrow("No matching");
      }),
      { numRuns: 50 },
    );
  });
});
