/** Texts that are stored encrypted: for one place, by the deployment's secrets. */
import { expect, it } from "vitest";
import { sealerFor } from "../../src/platform/crypto/sealer.ts";

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
