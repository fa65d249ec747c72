/** Turnstile's widget in a form, where the deployment has one. It adds the field `challenge` to the form by itself. */
import type { SignInSetup } from "@atrium/contract/rest/people.ts";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { callDashboard } from "../data/api.ts";
import { ErrorMessage } from "../ui/feedback.tsx";

/** The ways to sign in that the deployment has. */
export const useSignInSetup = () =>
  useQuery({
    queryKey: ["challenge"],
    queryFn: () => callDashboard<SignInSetup>("GET", "challenge"),
    staleTime: Number.POSITIVE_INFINITY,
  });

interface ChallengeProps {
  /** The error of the latest attempt: a response counts once, so the widget begins again after each. */
  readonly error: Error | null;
}

export function Challenge({ error }: ChallengeProps) {
  const { data } = useSignInSetup();
  const place = useRef<HTMLDivElement>(null);
  const [failure, setFailure] = useState<Error | null>(null);
  const siteKey = data?.site_key ?? null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new error needs a new widget.
  useEffect(() => {
    if (siteKey === null) return;
    const abandoned = new AbortController();
    loadTurnstile()
      .then((turnstile) => {
        if (place.current === null || abandoned.signal.aborted) return;
        const options = { sitekey: siteKey, "response-field-name": "challenge", size: "flexible" } as const;
        const widget = turnstile.render(place.current, options);
        abandoned.signal.addEventListener("abort", () => turnstile.remove(widget));
      })
      .catch(setFailure);
    return () => abandoned.abort();
  }, [siteKey, error]);
  if (siteKey === null) return null;
  return (
    <>
      <div ref={place} />
      <ErrorMessage error={failure} />
    </>
  );
}

/** The part of Turnstile's interface that the pages use. */
interface Turnstile {
  /** Returns the widget's ID. */
  render(
    place: HTMLElement,
    options: {
      readonly sitekey: string;
      readonly "response-field-name": string;
      readonly size: "flexible" | "normal";
    },
  ): string;
  remove(widget: string): void;
}

declare global {
  interface Window {
    readonly turnstile?: Turnstile;
  }
}

const SCRIPT = "https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit";

let loading: Promise<Turnstile> | undefined;

/** Rejects when the script is blocked or out of reach; the next call tries again. */
function loadTurnstile(): Promise<Turnstile> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

const load = () =>
  new Promise<Turnstile>((resolve, reject) => {
    const script = document.createElement("script");
    const fail = () => {
      script.remove();
      const message =
        "The check that you are a person could not be loaded; allow scripts of challenges.cloudflare.com";
      reject(new Error(message));
    };
    script.src = SCRIPT;
    script.addEventListener("load", () =>
      window.turnstile === undefined ? fail() : resolve(window.turnstile),
    );
    script.addEventListener("error", fail);
    document.head.appendChild(script);
  });
