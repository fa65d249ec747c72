/** The command palette (Ctrl+K), which opens any page or room by name; what finds them is loaded when it is opened. */
import { lazy, Suspense, useEffect, useState } from "react";
import { loadPage } from "../data/load-page.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Loading } from "../ui/feedback.tsx";

const Finder = lazy(() => loadPage(() => import("./finder.tsx")));

export function Palette() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setOpen(true);
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
  return (
    <>
      <Button
        variant="quiet"
        icon="search"
        aria-label="Search pages and rooms"
        onClick={() => setOpen(true)}
      />
      <Dialog title="Go to" isOpen={isOpen} onClose={() => setOpen(false)}>
        <Suspense fallback={<Loading />}>
          <Finder onClose={() => setOpen(false)} />
        </Suspense>
      </Dialog>
    </>
  );
}
