/** A promise with the functions that settle it, as browsers without `Promise.withResolvers` need it. */

export class Deferred<Value = void> {
  resolve!: (value: Value) => void;
  reject!: (reason: unknown) => void;
  readonly promise = new Promise<Value>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });
}
