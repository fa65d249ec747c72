/** The frame of the pages outside an organization. */
import type { ReactNode } from "react";
import { Monogram } from "../ui/button.tsx";
import { usePageTitle } from "../ui/page.tsx";

export interface SignInLayoutProps {
  readonly title: string;
  readonly children: ReactNode;
}

export function SignInLayout({ title, children }: SignInLayoutProps) {
  usePageTitle(title);
  return (
    <main className="sign-in-layout" id="main">
      <p className="brand">
        <Monogram name="Atrium" /> Atrium
      </p>
      <h1>{title}</h1>
      {children}
    </main>
  );
}
