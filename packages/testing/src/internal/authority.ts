import Forge from "node-forge"
import { generateKeyPair } from "node:crypto"
import { promisify } from "node:util"

/** A certificate for this machine's loopback names, its key, and the authority that vouches for it, all PEM. */
export interface Identity {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

const { md, pki } = Forge

const keys = async () => {
  const { privateKey, publicKey } = await promisify(generateKeyPair)("rsa", {
    modulusLength: 2048,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" }
  })
  return {
    pem: privateKey,
    privateKey: pki.privateKeyFromPem(privateKey),
    publicKey: pki.publicKeyFromPem(publicKey)
  }
}

type Keys = Awaited<ReturnType<typeof keys>>

const day = 86_400_000

const certificate = (
  serial: string,
  subject: string,
  own: Keys,
  issuer: string,
  signer: Keys,
  extensions: ReadonlyArray<object>
): string => {
  const made = pki.createCertificate()
  const now = Date.now()
  made.publicKey = own.publicKey
  made.serialNumber = serial
  made.validity.notBefore = new Date(now - day)
  made.validity.notAfter = new Date(now + 30 * day)
  made.setSubject([{ name: "commonName", value: subject }])
  made.setIssuer([{ name: "commonName", value: issuer }])
  made.setExtensions([...extensions])
  made.sign(signer.privateKey, md.sha256.create())
  return pki.certificateToPem(made)
}

const make = async (): Promise<Identity> => {
  const [authority, server] = await Promise.all([keys(), keys()])
  const name = "effect-agentenv test authority"
  const authorityId = pki.getPublicKeyFingerprint(authority.publicKey, { md: md.sha1.create() }).getBytes()
  return {
    ca: certificate("01", name, authority, name, authority, [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
      { name: "subjectKeyIdentifier" }
    ]),
    cert: certificate("02", "localhost", server, name, authority, [
      { name: "basicConstraints", cA: false, critical: true },
      { name: "keyUsage", digitalSignature: true, keyEncipherment: true, critical: true },
      { name: "extKeyUsage", serverAuth: true },
      { name: "subjectKeyIdentifier" },
      { name: "authorityKeyIdentifier", keyIdentifier: authorityId },
      { name: "subjectAltName", altNames: [{ type: 2, value: "localhost" }, { type: 7, ip: "127.0.0.1" }] }
    ]),
    key: server.pem
  }
}

let made: Promise<Identity> | undefined

/** Made once in a process, since keys take their time. */
export const identity = (): Promise<Identity> => made ??= make()
