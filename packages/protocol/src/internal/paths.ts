/**
 * Says whether a path is relative, POSIX and normalized, so that joining it to a root can't leave the root: no empty,
 * `.` or `..` segment and no backslash (`B-OBJ-1`, `B-DOBJ-5`).
 *
 * @since 0.1.0
 * @internal
 */
export const isNormalized = (path: string): boolean =>
  !path.includes("\\") && path.split("/").every((segment) => segment !== "" && segment !== "." && segment !== "..")
