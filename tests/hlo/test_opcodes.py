"""Every opcode with its attributes, as text and as a proto, against XLA's own reader."""

from __future__ import annotations

from tests.hlo.oracle import canonical
from tilewright import hlo

EVERY_OPCODE = r"""
HloModule m
a { p = f32[4] parameter(0)
 ROOT q = f32[4] negate(p) }
b { p = f32[4] parameter(0)
 ROOT q = f32[4] negate(p) }
r { p = f32[] parameter(0)
 q = f32[] parameter(1)
 ROOT s = f32[] add(p,q) }
g { p = f32[] parameter(0)
 q = f32[] parameter(1)
 ROOT s = pred[] compare(p,q), direction=GE }
c { p = f32[] parameter(0)
 q = f32[] parameter(1)
 ROOT s = pred[] compare(p,q), direction=GT, type=TOTALORDER }
ENTRY e {
  p = f32[4] parameter(0)
  i = s32[] parameter(1)
  b1 = pred[] parameter(2)
  x = f32[4] conditional(i, p, p), branch_computations={a, b}
  y = f32[4] conditional(b1, p, p), true_computation=a, false_computation=b
  m = f32[4] map(p, p), dimensions={0}, to_apply=r
  z0 = f32[] constant(0)
  rd = f32[] reduce(p, z0), dimensions={0}, to_apply=r
  rw = f32[2] reduce-window(p, z0), window={size=2 stride=2 pad=0_1 lhs_dilate=1 rhs_dilate=2 rhs_reversal=0}, to_apply=r
  ss = f32[4] select-and-scatter(p, rw, z0), window={size=2 stride=2}, select=g, scatter=r
  so = f32[4] sort(p), dimensions={0}, is_stable=true, to_apply=c
  im = f32[8,8,3,4] parameter(3)
  kr = f32[3,3,3,8] parameter(4)
  cv = f32[8,8,3,8] convolution(f32[8,8,3,4] im, kr), window={size=3x3 pad=1_1x1_1 rhs_reversal=1x0},
    dim_labels=b01f_01io->b01f, feature_group_count=1, batch_group_count=1, operand_precision={high,highest}
  pd = f32[9] pad(p, z0), padding=0_1_1
  sl = f32[2] slice(p), slice={[0:4:2]}
  ds = f32[2] dynamic-slice(p, i), dynamic_slice_sizes={2}
  tk = (f32[2], s32[2]) topk(p), k=2, largest=true
  io = s32[4] iota(), iota_dimension=0
  rp = f32[4] reduce-precision(p), exponent_bits=5, mantissa_bits=2
  cc = f32[4] custom-call(p, i), custom_call_target="f\"oo\n\\", backend_config="a=b\n\x01",
    operand_layout_constraints={f32[4]{0}, s32[]}, custom_call_has_side_effect=true,
    api_version=API_VERSION_TYPED_FFI, output_to_operand_aliasing={{}: (0, {})}, schedule=SCHEDULE_LATEST,
    padding_type=PADDING_SAME
  cd = f32[4] custom-call(p), custom_call_target="x", called_computations={a, b}, backend_config={"a":{"b":[1,"x}"]}}
  ce = f32[4] custom-call(p), custom_call_target="x", literal=s32[2]{0} {1,2}
  cl = f32[4] call(p), to_apply=a, is_composite=true,
    frontend_attributes={composite.name="foo.bar",composite.attributes={n = 1 : i32,
    t = dense<1> : tensor<i32>},composite.version="1"}
  tok = token[] after-all()
  infd = ((f32[4]), token[]) infeed(tok), infeed_config="hi"
  out = token[] outfeed(p, tok), outfeed_shape=f32[4]{0}, outfeed_config="x"
  snd = (f32[4], u32[], token[]) send(p, tok), channel_id=1, is_host_transfer=true
  sdn = token[] send-done(snd), channel_id=1, is_host_transfer=true
  rng = f32[4] rng(z0, z0), distribution=rng_uniform
  rs = u64[1] rng-get-and-update-state(), delta=4
  rb = (u64[1], u32[4]) rng-bit-generator(rs), algorithm=rng_default
  fu = f32[4] fusion(p), kind=kLoop, calls=a, output_to_operand_aliasing={{}: (0, {})}
  gs = s32[] get-dimension-size(p), dimensions={0}
  st = f32[<=4] set-dimension-size(p, i), dimensions={0}
  dm = f32[4] domain(p), domain={kind="sharding", entry={maximal device=1}, exit={maximal device=0}}
  ft = c64[3] fft(p), fft_type=RFFT, fft_length={4}
  sq = f32[4,4] parameter(5)
  ch = f32[4,4] cholesky(sq), lower=true
  ts = f32[4,4] triangular-solve(ch, sq), left_side=true, lower=true, unit_diagonal=false, transpose_a=NO_TRANSPOSE
  cs = (f32[4], f32[4], u32[]) copy-start(p), cross_program_prefetch_index=0
  cp = f32[4] copy-done(cs)
  bn = (f32[4,4], f32[4], f32[4]) batch-norm-training(sq, p, p), epsilon=0.001, feature_index=1
  dt = f32[4,4] dot(sq, sq), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,default},
    algorithm=dot_bf16_bf16_f32
  d2 = f32[4,4] dot(sq, sq), lhs_batch_dims={}, lhs_contracting_dims={1}, rhs_batch_dims={}, rhs_contracting_dims={0}
  br = f32[4,4] broadcast(p), dimensions={1}
  ag = f32[16] all-gather(p), replica_groups={{0,1,2,3}}, dimensions={0}
  cb = f32[4] collective-broadcast(p), replica_groups={{0,1}}
  rsc = f32[1] reduce-scatter(p), replica_groups={{0,1,2,3}}, dimensions={0}, to_apply=r
  a2a = f32[4] all-to-all(p), replica_groups={{0,1,2,3}}, dimensions={0}
  a2 = (f32[4], f32[4]) all-to-all(p, p), replica_groups={{0,1}}
  ad = f32[4] add-dependency(p, tok)
  ob = (f32[4], f32[4]) opt-barrier(a2)
  rshp = f32[2,2] reshape(p), inferred_dimension=0
  cq = f32[4] custom-call(p), custom_call_target="x", window={size=2}, dim_labels=bf0_oi0->b0f, to_apply=a
  ROOT t = () tuple()
}
"""

# Not every jax version has these.
NEWER = [
  r"""
HloModule m
r { p = f32[4] parameter(0)
 q = f32[4] parameter(1)
 s = f32[4] add(p,q)
 ROOT t = (f32[4], f32[4]) tuple(s, s) }
ENTRY e {
  x = f32[8,4] parameter(0)
  i = f32[4] parameter(1)
  ROOT d = (f32[8,4], f32[4]) scan(x, i), dimensions={0}, is_reverse=true, num_carries=1, is_associative=true, to_apply=r
}
""",
  r"""
HloModule m
ENTRY e {
  x = f32[8,4] parameter(0)
  y = f32[4,8] parameter(1)
  a = f32[1,4] parameter(2)
  b = f32[4,1] parameter(3)
  ROOT d = f32[8,8] scaled-dot(x, y, a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
""",
  r"""
HloModule m
ENTRY e {
  x = f32[8,4] parameter(0)
  y = f32[2,4,8] parameter(1)
  g = s32[2] parameter(2)
  ROOT d = f32[8,8] ragged-dot(x, y, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0},
    rhs_group_dims={0}
}
""",
  r"""
HloModule m
ENTRY e {
  x = f32[8,4] parameter(0)
  y = f32[8,4] parameter(1)
  i = s32[] parameter(2)
  ii = (s32[], s32[]) tuple(i, i)
  s = (f32[8,4], f32[8,4], u32[], u32[]) collective-permute-start(x, y, ii, ii), channel_id=1,
    source_target_pairs={{0,1}}, slice_sizes={{1,2}}
  ROOT d = f32[8,4] collective-permute-done(s)
}
""",
]

GROUPS = """HloModule m, replica_count=2
s { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a,b) }
ENTRY e {
  p = f32[4] parameter(0)
  q = f32[4] all-reduce(p), replica_groups={{0,1},{2,3}}, to_apply=s
  q1 = f32[4] all-reduce(q), replica_groups={}, to_apply=s
  q2 = f32[4] all-reduce(q1), replica_groups=[2,4]<=[4,2]T(1,0), to_apply=s, channel_id=3, use_global_device_ids=true
  q3 = f32[4] all-reduce(q2), replica_groups=mesh["x"=4,"y"=2] {"x":(1)2,"y"}, to_apply=s, channel_id=3
  q4 = f32[4] all-reduce(q3), replica_groups=mesh["x"=4,"y"=2], device_ids=(0,2,4,6,1,3,5,7) {"x"}, to_apply=s
  ROOT z = f32[4] collective-permute(q4), source_target_pairs={{0,1},{1,0}}, channel_id=1
}"""

ASYNC = """HloModule m
w {
  a = f32[4] parameter(0)
  ROOT r = f32[4] custom-call(a), custom_call_target="foo"
}, execution_thread="thr"
ENTRY e {
  p = f32[4] parameter(0)
  s = ((f32[4]), f32[4], s32[]) custom-call-start(p), custom_call_target="foo", async_execution_thread="thr"
  u = ((f32[4]), f32[4], s32[]) custom-call-update(s), metadata={op_name="u"}
  d = f32[4] custom-call-done(u)
  x1 = ((f32[4]), f32[4], s32[]) async-start(p), calls=w, async_execution_thread="thr"
  x2 = ((f32[4]), f32[4], s32[]) async-update(x1)
  d1 = f32[4] async-done(x2)
  ROOT t = (f32[4], f32[4]) tuple(d, d1), control-predecessors={x2, d}
}"""

SHARDINGS = [
  "{unreduced}",
  "{devices=[2,2]<=[4] last_tile_dim_replicate}",
  "{devices=[2,2,2]<=[2,4]T(1,0) last_tile_dims={manual,replicated}}",
  '{devices=[4]<=[4] shard_as 3 metadata={op_name="x" source_line=3}}',
  "{replicated shard_like 5}",
  '{mesh["x"=2,"y"=4], [{"x", ?}], replicated={"y":(1)2}, unreduced={"y":(2)2}}',
  '{mesh["x"=2,"y"=4], [{"x"}], manual={"y"}}',
  "{maximal_mesh[device_id=5]}",
  '{mesh["x"=2,"y"=4], [{"x"}], metadata={op_name="q"}}',
  '{mesh["x"=2,"y"=4], [{"x"}], metadata={{op_name="q"}, {op_name="r"}}}',
  '{replicated metadata={{op_name="x"}, {op_name="y"}}}',
  '{mesh["x"=2,"y"=4], device_ids=(0,1,2,3,7,6,5,4), [{"x"}]}',
  "{mesh[], replicated}",
  '{mesh["x"=2,"y"=4], device_ids=([4,2]T(1,0)), [{"x"}]}',
  '{mesh["x"=2,"y"=4], replicated}',
  '{mesh["x"=2,"y"=4], manual}',
  '{mesh["x"=2,"y"=4], [{?}], unreduced={"y"}}',
  '{mesh["x"=2,"y"=4], unreduced}',
]
SHARDED = [
  f"HloModule m, num_partitions=8\nENTRY e {{\n  ROOT p = f32[4] parameter(0), sharding={text}\n}}"
  for text in SHARDINGS
]


def agrees(texts: list[str]) -> int:
  """How many of the texts XLA reads; on those, our text and our proto must give XLA the same program."""
  modules = [hlo.parse(text) for text in texts]
  theirs = canonical(texts)
  ours = canonical([module.to_text() for module in modules])
  read = [i for i, (ok, _) in enumerate(theirs) if ok]
  for i in read:
    assert ours[i] == theirs[i], texts[i]
  # A proto has no place for the config of a module: compare what stands below the header.
  for i, (ok, text) in zip(read, canonical([modules[i].to_proto() for i in read])):
    assert ok, text
    assert text.split("\n", 1)[1] == theirs[i][1].split("\n", 1)[1]
  return len(read)


def test_every_opcode() -> None:
  assert agrees([EVERY_OPCODE]) == 1


def test_opcodes_of_some_versions() -> None:
  agrees(NEWER)


def test_replica_groups_and_async_pairs() -> None:
  assert agrees([GROUPS, ASYNC]) == 2


def test_shardings() -> None:
  assert agrees(SHARDED) >= 10
