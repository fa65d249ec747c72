/** The `fetch` of a program: the service asks for it, and the program gets the platform's own response. */

import type { FetchedResponse, HostBindings } from "../runners/runner.ts";
import type { Calls } from "./calls.ts";
import { defineProperty, NativePromise, NativeRequest } from "./intrinsics.ts";

/** `fetch` through the service, with the platform's own requests and responses. */
export function fetchBy(calls: Calls, host: HostBindings): typeof fetch {
  return async (input: RequestInfo | URL, init: RequestInit = {}) => {
    const redirect = init.redirect ?? (input instanceof NativeRequest ? input.redirect : "follow");
    const { signal = input instanceof NativeRequest ? input.signal : null, ...rest } = init;
    const request = new NativeRequest(input instanceof URL ? input.href : input, {
      ...rest,
      redirect: "manual",
    });
    signal?.throwIfAborted();
    const answered = calls.make(() => host.fetch(request, redirect));
    return present(await (signal ? NativePromise.race([answered, abortOf(signal)]) : answered));
  };
}

const abortOf = (signal: AbortSignal): Promise<never> =>
  new NativePromise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

/** The platform's own response, with the fields that it lost on its way here. */
function present({ response, url, redirected }: FetchedResponse): Response {
  defineProperty(response, "url", { value: url, enumerable: true });
  defineProperty(response, "redirected", { value: redirected, enumerable: true });
  return response;
}
