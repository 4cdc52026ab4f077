# A package for Nix: `nix build`, `nix run . -- ARCHIVE MOUNTPOINT`.
{
  description = "Mount old game archives as read-only file systems";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
      ];
      forEachSystem =
        package: nixpkgs.lib.genAttrs systems (system: { default = package nixpkgs.legacyPackages.${system}; });
      manifest = builtins.fromTOML (builtins.readFile ./Cargo.toml);
    in
    {
      packages = forEachSystem (
        pkgs:
        pkgs.rustPlatform.buildRustPackage {
          pname = manifest.package.name;
          version = manifest.workspace.package.version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          nativeBuildInputs = [ pkgs.python3 ];
          # The tests mount.
          doCheck = false;
          installPhase = ''
            runHook preInstall
            patchShebangs scripts
            scripts/stage "$out" "target/${pkgs.stdenv.hostPlatform.rust.rustcTarget}/release"
            mv "$out"/usr/* "$out"
            rmdir "$out/usr"
            runHook postInstall
          '';
          meta = {
            description = manifest.package.description;
            homepage = manifest.workspace.package.homepage;
            license = with pkgs.lib.licenses; [
              mit
              asl20
            ];
            mainProgram = "hpimount";
            platforms = systems;
          };
        }
      );
    };
}
