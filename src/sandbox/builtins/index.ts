/** Bounds the language's and the platform's own functions: what they do is no program's code, so no tick is in it. */
import { boundArrays } from "./arrays.ts";
import { boundBytes } from "./bytes.ts";
import { boundFunctions } from "./functions.ts";
import { boundNumbers } from "./numbers.ts";
import { boundTexts } from "./texts.ts";

export function limitBuiltins(): void {
  boundTexts();
  boundBytes();
  boundNumbers();
  boundArrays();
  boundFunctions();
}
