/** Keys of input methods (IME), by which many people write Chinese, Japanese and Korean. */

/** Whether a key belongs to a text that is being composed. Safari ends it before its last key, which has the code 229. */
export const isComposing = (event: { readonly isComposing: boolean; readonly keyCode: number }): boolean =>
  event.isComposing || event.keyCode === 229;
