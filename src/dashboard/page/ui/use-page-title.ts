/** Sets the title of the document. */
import { useEffect } from "react";

export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Atrium`;
  }, [title]);
}
