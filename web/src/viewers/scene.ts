/** A model on a canvas. The only file that names three.js, which is loaded when it is needed. */

import {
    type AnimationAction,
    AnimationMixer,
    Box3,
    Timer,
    HemisphereLight,
    LinearFilter,
    LinearMipmapLinearFilter,
    type Material,
    Mesh,
    NearestFilter,
    type Object3D,
    PerspectiveCamera,
    Scene,
    Sphere,
    Spherical,
    Texture,
    Vector3,
    WebGLRenderer,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { type GLTF, GLTFLoader, type GLTFParser } from "three/addons/loaders/GLTFLoader.js";

/** KHR_node_visibility, which three.js does not know: hides nodes, and lists them. */
class NodeVisibility {
    readonly name = "KHR_node_visibility";
    hidden: Object3D[] = [];

    constructor(private readonly parser: GLTFParser) {}

    async afterRoot(): Promise<void> {
        const nodes: { extensions?: Record<string, { visible?: boolean }> }[] = this.parser.json.nodes ?? [];
        const isHidden = (at: number) => nodes[at]?.extensions?.[this.name]?.visible === false;
        const hidden = [...nodes.keys()].filter(isHidden);
        this.hidden = await Promise.all(hidden.map((at) => this.parser.getDependency("node", at)));
    }
}

export interface Clip {
    name: string;
    seconds: number;
}

export interface Facts {
    triangles: number;
    textures: number;
}

/** Degrees of a key press, and of a second of turning by itself. */
const KEY_TURN = 8;
const TURN_SPEED = 30;

export class ModelScene {
    readonly clips: Clip[];
    readonly facts: Facts;
    /** Called after each frame in which an animation moved. */
    onTime: (seconds: number) => void = () => undefined;

    private readonly scene = new Scene();
    private readonly camera = new PerspectiveCamera(40, 0);
    private readonly controls: OrbitControls;
    private readonly mixer: AnimationMixer;
    private readonly timer = new Timer();
    private readonly materials = new Set<Material>();
    private readonly textures = new Set<Texture>();
    private action: AnimationAction | null = null;
    private plays = false;
    private turns = false;
    private frame = 0;

    constructor(
        private readonly renderer: WebGLRenderer,
        private readonly gltf: GLTF,
        private readonly hiddenNodes: readonly Object3D[],
    ) {
        this.clips = gltf.animations.map(({ name, duration }) => ({ name, seconds: duration }));
        this.mixer = new AnimationMixer(this.scene);
        // Textures show at about their own brightness, from all sides. Hidden nodes may
        // be in a scene of their own, for programs that do not know the extension.
        this.scene.add(...gltf.scenes, new HemisphereLight(0xffffff, 0xb3b3b3, 3));
        this.setHiddenShown(false);
        this.controls = new OrbitControls(this.camera, renderer.domElement);
        this.controls.addEventListener("change", () => this.draw());
        let triangles = 0;
        this.scene.traverse((object) => {
            if (object instanceof Mesh) {
                const { index, attributes } = object.geometry;
                triangles += (index?.count ?? attributes.position.count) / 3;
                [object.material].flat().forEach((material: Material) => this.materials.add(material));
            }
        });
        for (const material of this.materials) {
            Object.values(material).forEach((value) => value instanceof Texture && this.textures.add(value));
        }
        this.facts = { triangles: Math.round(triangles), textures: this.textures.size };
    }

    get hiddenCount(): number {
        return this.hiddenNodes.length;
    }

    resize(width: number, height: number): void {
        if (width === 0 || height === 0) {
            return;
        }
        this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
        this.renderer.setSize(width, height, false);
        const isFirst = this.camera.aspect === 0;
        this.camera.aspect = width / height;
        this.camera.updateProjectionMatrix();
        isFirst ? this.reset() : this.draw();
    }

    /** Looks at the whole model from the front and a little from above. */
    reset(): void {
        const { center, radius } = this.bounds();
        const narrow = Math.min(this.camera.aspect, 1);
        const distance = (radius / Math.sin((this.camera.fov * Math.PI) / 360) / narrow) * 1.02;
        const direction = new Vector3().setFromSpherical(new Spherical(1, Math.PI * 0.38, Math.PI * 0.2));
        this.camera.position.copy(center).addScaledVector(direction, distance);
        this.camera.near = distance / 500;
        this.camera.far = distance * 20;
        this.camera.updateProjectionMatrix();
        this.controls.target.copy(center);
        this.controls.maxDistance = distance * 6;
        this.controls.update();
        this.draw();
    }

    private bounds(): Sphere {
        const box = new Box3();
        this.scene.updateWorldMatrix(true, true);
        this.scene.traverseVisible((object) => {
            if (object instanceof Mesh) {
                box.union(new Box3().setFromObject(object, true));
            }
        });
        const sphere = box.isEmpty() ? new Sphere(new Vector3(), 1) : box.getBoundingSphere(new Sphere());
        sphere.radius ||= 1;
        return sphere;
    }

    /** Turns the view by key presses to the right and up. */
    turn(right: number, up: number): void {
        const offset = this.camera.position.clone().sub(this.controls.target);
        const angles = new Spherical().setFromVector3(offset);
        angles.theta += (right * KEY_TURN * Math.PI) / 180;
        angles.phi -= (up * KEY_TURN * Math.PI) / 180;
        this.camera.position.copy(this.controls.target).add(offset.setFromSpherical(angles.makeSafe()));
        this.controls.update();
        this.draw();
    }

    zoom(factor: number): void {
        this.camera.position.sub(this.controls.target).multiplyScalar(factor).add(this.controls.target);
        this.controls.update();
        this.draw();
    }

    setTurning(turns: boolean): void {
        this.turns = turns;
        this.timer.update();
        this.draw();
    }

    setWireframe(isOn: boolean): void {
        this.materials.forEach((material) => Object.assign(material, { wireframe: isOn }));
        this.draw();
    }

    setHiddenShown(isShown: boolean): void {
        this.hiddenNodes.forEach((object) => (object.visible = isShown));
        this.gltf.scenes.forEach((scene) => (scene.visible = isShown || scene === this.gltf.scene));
        this.draw();
    }

    setPixels(isOn: boolean): void {
        for (const texture of this.textures) {
            texture.magFilter = isOn ? NearestFilter : LinearFilter;
            texture.minFilter = isOn ? NearestFilter : LinearMipmapLinearFilter;
            texture.needsUpdate = true;
        }
        this.draw();
    }

    /** Starts an animation; null shows the model at rest. */
    choose(name: string | null): void {
        this.mixer.stopAllAction();
        const clip = this.gltf.animations.find((clip) => clip.name === name);
        this.action = clip ? this.mixer.clipAction(clip).reset().play() : null;
        this.mixer.update(0);
        this.draw();
    }

    setPlaying(plays: boolean): void {
        this.plays = plays;
        this.timer.update();
        this.draw();
    }

    setSpeed(speed: number): void {
        this.mixer.timeScale = speed;
    }

    seek(seconds: number): void {
        if (this.action) {
            this.action.time = seconds;
            this.mixer.update(0);
            this.draw();
        }
    }

    /** Draws a frame soon; nothing is drawn while nothing changes. */
    private draw(): void {
        this.frame ||= requestAnimationFrame(() => {
            this.frame = 0;
            const seconds = Math.min(this.timer.update().getDelta(), 0.1);
            if (this.turns) {
                this.turn((TURN_SPEED * seconds) / KEY_TURN, 0);
            }
            if (this.action && this.plays) {
                this.mixer.update(seconds);
                this.onTime(this.action.time);
                this.draw();
            }
            this.renderer.render(this.scene, this.camera);
        });
    }

    dispose(): void {
        cancelAnimationFrame(this.frame);
        this.frame = -1;
        this.controls.dispose();
        this.scene.traverse((object) => object instanceof Mesh && object.geometry.dispose());
        this.materials.forEach((material) => material.dispose());
        this.textures.forEach((texture) => texture.dispose());
        this.renderer.dispose();
        this.renderer.forceContextLoss();
    }
}

/** Draws a GLB file on a canvas; fails if it is damaged, or there is no WebGL. */
export async function openModel(canvas: HTMLCanvasElement, bytes: ArrayBuffer): Promise<ModelScene> {
    let visibility: NodeVisibility | null = null;
    const loader = new GLTFLoader().register((parser) => (visibility = new NodeVisibility(parser)));
    const gltf = await loader.parseAsync(bytes, "");
    // Pictures of the canvas can be taken at any time.
    const renderer = new WebGLRenderer({ canvas, alpha: true, antialias: true, preserveDrawingBuffer: true });
    return new ModelScene(renderer, gltf, (visibility as NodeVisibility | null)?.hidden ?? []);
}
