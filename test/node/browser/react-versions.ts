/** The versions of React that hooks and components support, and the packages that have them here. */

export const REACT_VERSIONS = [18, 19] as const;
export type ReactVersion = (typeof REACT_VERSIONS)[number];

export const ALIASES = { 18: { react: "react-18", "react-dom": "react-dom-18" }, 19: {} };
