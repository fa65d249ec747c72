/** Limits the functions of the language and the platform: they are not the program's code, so they contain no ticks. */
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
