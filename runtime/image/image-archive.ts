import { createHash, randomUUID } from "node:crypto";
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { mkdir, rename, rm, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";

import { pack, type Pack } from "tar-stream";

import type { Layer } from "./layer";

export interface ImageSpec {
  /** Full name with its tag, as pods name it: `localhost/pulumi-liqo/runtime:1a2b3c`. */
  name: string;
  layers: readonly Layer[];
  entrypoint: string[];
  command?: string[];
  environment?: Record<string, string>;
  /** `user` or `uid:gid`; root by default. */
  user?: string;
  workingFolder?: string;
}

export interface ImageArchive {
  name: string;
  /** The archive: an OCI image layout that is a Docker archive too, for `ctr image import`, `kind load` and `docker load`. */
  file: string;
}

/** Writes an image as one tar, unless the file is there already, which is then marked as used: name it after the content. */
export async function writeImageArchive(spec: ImageSpec, file: string): Promise<ImageArchive> {
  if (existsSync(file)) {
    const now = new Date();
    await utimes(file, now, now);
    return { name: spec.name, file };
  }
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.${randomUUID()}`;
  try {
    const archive = pack();
    await Promise.all([addAll(archive, spec), pipeline(archive, createWriteStream(draft))]);
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
  return { name: spec.name, file };
}

/** Digest of the image's configuration: what Kubernetes shows as the image ID. */
export function imageId(spec: ImageSpec): string {
  return blob(configuration(spec)).digest;
}

/** A file name that tells one content from another. */
export function archiveFileName(spec: ImageSpec): string {
  const [, base = "image"] = /([^/:]+):[^:]*$/.exec(spec.name) ?? [];
  const key = createHash("sha256").update(spec.name).update(imageId(spec)).digest("hex").slice(0, 12);
  return `${base}-${key}.tar`;
}

async function addAll(archive: Pack, spec: ImageSpec): Promise<void> {
  const config = blob(configuration(spec));
  const manifest = blob({
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    config: {
      mediaType: "application/vnd.oci.image.config.v1+json",
      digest: config.digest,
      size: config.size,
    },
    layers: spec.layers.map(({ digest, size }) => ({
      mediaType: "application/vnd.oci.image.layer.v1.tar",
      digest,
      size,
    })),
  });
  const index = {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: [
      {
        mediaType: "application/vnd.oci.image.manifest.v1+json",
        digest: manifest.digest,
        size: manifest.size,
        platform: platform(),
        annotations: {
          "io.containerd.image.name": spec.name,
          "org.opencontainers.image.ref.name": spec.name.slice(spec.name.lastIndexOf(":") + 1),
        },
      },
    ],
  };
  const dockerManifest = [
    {
      Config: blobPath(config.digest),
      RepoTags: [spec.name],
      Layers: spec.layers.map(({ digest }) => blobPath(digest)),
    },
  ];
  addFile(archive, "oci-layout", JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  addFile(archive, "index.json", JSON.stringify(index));
  addFile(archive, "manifest.json", JSON.stringify(dockerManifest));
  addFile(archive, blobPath(config.digest), config.text);
  addFile(archive, blobPath(manifest.digest), manifest.text);
  for (const { file, digest, size } of new Map(spec.layers.map((layer) => [layer.digest, layer])).values()) {
    await pipeline(
      createReadStream(file),
      archive.entry({ name: blobPath(digest), size, mtime: new Date(0) }),
    );
  }
  archive.finalize();
}

function configuration(spec: ImageSpec) {
  const environment = {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    ...spec.environment,
  };
  return {
    created: "1970-01-01T00:00:00Z",
    ...platform(),
    config: {
      Env: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
      Entrypoint: spec.entrypoint,
      ...(spec.command && { Cmd: spec.command }),
      ...(spec.user !== undefined && { User: spec.user }),
      WorkingDir: spec.workingFolder ?? "/",
    },
    rootfs: { type: "layers", diff_ids: spec.layers.map(({ digest }) => digest) },
    history: spec.layers.map(() => ({ created: "1970-01-01T00:00:00Z", created_by: "pulumi-liqo" })),
  };
}

function platform(): { os: string; architecture: string } {
  return { os: "linux", architecture: process.arch === "x64" ? "amd64" : process.arch };
}

function blob(value: unknown): { text: string; digest: string; size: number } {
  const text = JSON.stringify(value);
  return {
    text,
    digest: `sha256:${createHash("sha256").update(text).digest("hex")}`,
    size: Buffer.byteLength(text),
  };
}

function blobPath(digest: string): string {
  return `blobs/${digest.replace(":", "/")}`;
}

function addFile(archive: Pack, name: string, text: string): void {
  archive.entry({ name, mtime: new Date(0) }, text);
}
