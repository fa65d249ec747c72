/** A moment in the reader's language and time zone, which only the browser knows. */
import { type ReactNode, useSyncExternalStore } from "react";
import { useTexts } from "./texts.ts";

const never = () => () => {};

/** A time. A server renders the date alone, which the browser replaces once it has hydrated it. */
export function Time({ at }: { readonly at: string }): ReactNode {
  const { time } = useTexts();
  const text = useSyncExternalStore(
    never,
    () => time(new Date(at)),
    () => at.slice(0, 10),
  );
  return <time dateTime={at}>{text}</time>;
}
