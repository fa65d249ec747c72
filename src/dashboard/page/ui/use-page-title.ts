/** The title of the page that is shown, in the window's and in its history. */
import { useEffect } from "react";

export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Atrium`;
  }, [title]);
}
