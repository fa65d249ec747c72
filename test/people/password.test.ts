/** Stored passwords: their format and their verification. */
import { scryptSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { hashPassword, verifyPassword } from "../../src/features/people/password.ts";

describe("a stored password", () => {
  it("records its strength and has its own salt", async () => {
    const [one, other] = [await hashPassword("a good password"), await hashPassword("a good password")];
    expect(one).toMatch(/^\$scrypt\$ln=14,r=8,p=5\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(other).not.toBe(one);
    const [, , , salt = "", hash = ""] = one.split("$");
    const key = scryptSync("a good password", Buffer.from(salt, "base64"), 32, { N: 2 ** 14, r: 8, p: 5 });
    expect(hash).toBe(key.toString("base64").replace("=", ""));
  });

  it("matches the password and nothing else", async () => {
    const stored = await hashPassword("a good password ");
    expect(await verifyPassword("a good password ", stored)).toBe(true);
    for (const wrong of ["a good password", "A good password ", "", stored]) {
      expect(await verifyPassword(wrong, stored), wrong).toBe(false);
    }
  });

  it("is verified at the strength recorded in it", async () => {
    const salt = Buffer.alloc(16, 1);
    const key = scryptSync("a good password", salt, 32, { N: 2 ** 4, r: 2, p: 1 });
    const text = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");
    const stored = `$scrypt$ln=4,r=2,p=1$${text(salt)}$${text(key)}`;
    expect(await verifyPassword("a good password", stored)).toBe(true);
    expect(await verifyPassword("another password", stored)).toBe(false);
  });

  it("matches nothing when it is malformed", async () => {
    for (const stored of [
      "",
      "a good password",
      "$scrypt$ln=14,r=8,p=5$$",
      "$argon2id$v=19$m=1,t=1,p=1$AA$AA",
    ]) {
      expect(await verifyPassword("a good password", stored), stored).toBe(false);
    }
  });
});
