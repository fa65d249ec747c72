/** The frame of the pages for those who are not inside yet. */
import type { ReactNode } from "react";
import { usePageTitle } from "../ui/use-page-title.ts";

export interface DoorProps {
  readonly title: string;
  readonly children: ReactNode;
}

export function Door({ title, children }: DoorProps) {
  usePageTitle(title);
  return (
    <main className="door" id="main">
      <p className="brand">
        <span className="monogram">A</span> Atrium
      </p>
      <h1>{title}</h1>
      {children}
    </main>
  );
}
