/** Loads Turnstile's script once, when a page needs it. */

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
export function loadTurnstile(): Promise<Turnstile> {
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
