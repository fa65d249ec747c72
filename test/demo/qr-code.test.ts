/** The QR code of a board's link, which an independent reader has read. */
import { expect, it } from "vitest";
import { qrCode } from "../../src/demo/page/share/qr-code.ts";

const LINK = "https://atrium.example/demo?room=0a1b2c3d4e5f";

/** The code in hexadecimal, a row per line. */
const shown = (text: string): string[] =>
  (qrCode(text) ?? []).map((row) => BigInt(`0b${row.map(Number).join("")}`).toString(16));

it("is that of the link", () => {
  expect(shown(LINK).join(" ")).toBe(
    "1fc46f7f 105ca541 1750195d 1749365d 175da45d 10557741 1fd5557f 163900 1a63d276 163b9949 1d4343be " +
      "18afa716 f56c8cb 1f925380 11c689af 32aff2a 1c453922 e09c8e9 11e30893 352c83 10edb5f4 1ed717 1fd59952 1047d51c 174db9f2 17590c5e 1746451d 105bd902 1fdc699a",
  );
});

it("has the size that the link needs, as long as it is not too long", () => {
  const sizes = [17, 18, 32, 53, 78, 106, 107].map((length) => qrCode("x".repeat(length))?.length);
  expect(sizes).toEqual([21, 25, 25, 29, 33, 37, undefined]);
});
