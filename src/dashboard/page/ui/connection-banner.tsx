/** The one place that says that the service does not answer, and when it is asked again. */
import { type ReactNode, useEffect, useState } from "react";
import { type Outage, retryNow, useOutage } from "../data/connection.ts";
import { Button } from "./button.tsx";

/** The pages, with the banner above them while the service does not answer: what they show then is greyed. */
export function WithConnection({ children }: { readonly children: ReactNode }) {
  const outage = useOutage();
  return (
    <>
      {outage !== null && <Banner outage={outage} />}
      <div className={outage === null ? "connected" : "connected stale"}>{children}</div>
    </>
  );
}

function Banner({ outage: { nextAt } }: { readonly outage: Outage }) {
  const seconds = useSecondsUntil(nextAt);
  return (
    <section className="connection" aria-label="Connection">
      <p role="alert">
        <strong>The service does not answer.</strong> What you see may be out of date.
      </p>
      <span className="soft">{nextAt === null ? "Trying now …" : `Next attempt in ${seconds} s`}</span>
      <Button isBusy={nextAt === null} onClick={() => void retryNow()}>
        Try now
      </Button>
    </section>
  );
}

function useSecondsUntil(at: number | null): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (at === null) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [at]);
  return at === null ? 0 : Math.max(0, Math.ceil((at - now) / 1000));
}
