"""What the verifier asks of operands: it refuses what XLA's refuses, one module for each rule, and accepts what XLA's accepts."""

from __future__ import annotations

import pytest

from tilewright import hlo

ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a,b) }\n"


def module(body: str, extra: str = "", header: str = "") -> str:
  return f"HloModule m{header}\n{extra}\nENTRY e {{\n{body}\n}}"


NEGATE = "f { p = f32[4] parameter(0)\n ROOT q = f32[4] negate(p) }\ng { p = f32[3] parameter(0)\n ROOT q = f32[3] negate(p) }\n"
FOUR = ", replica_count=4"
REFUSED = {
  "call shapes": module("x=f32[4] parameter(0) ROOT c=f32[4] call(x),to_apply=g", NEGATE),
  "call result": module("x=f32[4] parameter(0) ROOT c=f32[5] call(x),to_apply=f", NEGATE),
  "call arity": module("x=f32[4] parameter(0) ROOT c=f32[4] call(x,x),to_apply=f", NEGATE),
  "cond operand": module(
    "p=pred[] parameter(0) x=f32[4] parameter(1) ROOT c=f32[4] conditional(p,x,x),true_computation=f,false_computation=g",
    NEGATE,
  ),
  "cond index f32": module(
    "p=f32[] parameter(0) x=f32[4] parameter(1) ROOT c=f32[4] conditional(p,x,x),branch_computations={f,f}", NEGATE
  ),
  "cond branch count": module(
    "p=s32[] parameter(0) x=f32[4] parameter(1) ROOT c=f32[4] conditional(p,x,x),branch_computations={f,f,f}", NEGATE
  ),
  "rng arity": module("l=f32[] constant(0) ROOT r=f32[4] rng(l),distribution=rng_uniform"),
  "rng type": module("l=s32[] constant(0) h=s32[] constant(1) ROOT r=s32[4] rng(l,h),distribution=rng_normal"),
  "interior neg pad": module("x=f32[100] parameter(0) c=f32[] constant(0) ROOT p=f32[3] pad(x,c),padding=0_0_-1"),
  "pad result": module("x=f32[4] parameter(0) c=f32[] constant(0) ROOT p=f32[7] pad(x,c),padding=1_1"),
  "pad value type": module("x=f32[4] parameter(0) c=s32[] constant(0) ROOT p=f32[6] pad(x,c),padding=1_1"),
  "negate shape": module("x=f32[4] parameter(0) ROOT p=f32[5] negate(x)"),
  "negate pred": module("x=pred[4] parameter(0) ROOT p=pred[4] negate(x)"),
  "add mismatch": module("x=f32[4] parameter(0) y=f32[5] parameter(1) ROOT p=f32[4] add(x,y)"),
  "add types": module("x=f32[4] parameter(0) y=s32[4] parameter(1) ROOT p=f32[4] add(x,y)"),
  "transpose perm": module("x=f32[4,5] parameter(0) ROOT p=f32[5,4] transpose(x),dimensions={0,0}"),
  "transpose shape": module("x=f32[4,5] parameter(0) ROOT p=f32[4,5] transpose(x),dimensions={1,0}"),
  "reshape": module("x=f32[4,5] parameter(0) ROOT p=f32[21] reshape(x)"),
  "broadcast dims": module("x=f32[4] parameter(0) ROOT p=f32[5,6] broadcast(x),dimensions={0}"),
  "broadcast rank": module("x=f32[4] parameter(0) ROOT p=f32[4,6] broadcast(x),dimensions={0,1}"),
  "slice limit": module("x=f32[4] parameter(0) ROOT p=f32[3] slice(x),slice={[2:5]}"),
  "slice size": module("x=f32[4] parameter(0) ROOT p=f32[3] slice(x),slice={[2:4]}"),
  "slice stride0": module("x=f32[4] parameter(0) ROOT p=f32[2] slice(x),slice={[2:4:0]}"),
  "concat": module("x=f32[4] parameter(0) y=f32[3] parameter(1) ROOT p=f32[8] concatenate(x,y),dimensions={0}"),
  "concat rank": module("x=f32[4] parameter(0) y=f32[3,1] parameter(1) ROOT p=f32[7] concatenate(x,y),dimensions={0}"),
  "iota dim": module("ROOT p=f32[4] iota(),iota_dimension=1"),
  "iota scalar": module("ROOT p=f32[] iota(),iota_dimension=0"),
  "iota pred": module("ROOT p=pred[4] iota(),iota_dimension=0"),
  "gte index": module("x=(f32[4]) parameter(0) ROOT p=f32[4] get-tuple-element(x),index=1"),
  "gte shape": module("x=(f32[4]) parameter(0) ROOT p=f32[5] get-tuple-element(x),index=0"),
  "tuple shape": module("x=f32[4] parameter(0) ROOT p=(f32[4],f32[4]) tuple(x)"),
  "ds index": module(
    "x=f32[4] parameter(0) i=f32[] constant(1) ROOT p=f32[2] dynamic-slice(x,i),dynamic_slice_sizes={2}"
  ),
  "ds big": module(
    "x=f32[4] parameter(0) i=s32[] constant(1) ROOT p=f32[5] dynamic-slice(x,i),dynamic_slice_sizes={5}"
  ),
  "ds result": module(
    "x=f32[4] parameter(0) i=s32[] constant(1) ROOT p=f32[3] dynamic-slice(x,i),dynamic_slice_sizes={2}"
  ),
  "ds indices count": module(
    "x=f32[4,4] parameter(0) i=s32[] constant(1) ROOT p=f32[2,2] dynamic-slice(x,i),dynamic_slice_sizes={2,2}"
  ),
  "ds index types": module(
    "x=f32[4,4] parameter(0) i=s32[] constant(1) j=u32[] constant(1) ROOT p=f32[2,2] dynamic-slice(x,i,j),dynamic_slice_sizes={2,2}"
  ),
  "dus big": module(
    "x=f32[4] parameter(0) u=f32[5] parameter(1) i=s32[] constant(1) ROOT p=f32[4] dynamic-update-slice(x,u,i)"
  ),
  "dus type": module(
    "x=f32[4] parameter(0) u=s32[2] parameter(1) i=s32[] constant(1) ROOT p=f32[4] dynamic-update-slice(x,u,i)"
  ),
  "select pred": module("c=s32[4] parameter(0) x=f32[4] parameter(1) ROOT p=f32[4] select(c,x,x)"),
  "select shape": module("c=pred[3] parameter(0) x=f32[4] parameter(1) ROOT p=f32[4] select(c,x,x)"),
  "clamp": module("c=f32[3] parameter(0) x=f32[4] parameter(1) ROOT p=f32[4] clamp(c,x,c)"),
  "compare out": module("x=f32[4] parameter(0) ROOT p=f32[4] compare(x,x),direction=LT"),
  "compare totalorder int": module("x=s32[4] parameter(0) ROOT p=pred[4] compare(x,x),direction=LT,type=TOTALORDER"),
  "dot contract": module(
    "x=f32[4,5] parameter(0) ROOT p=f32[4,5] dot(x,x),lhs_contracting_dims={1},rhs_contracting_dims={0}"
  ),
  "dot result": module(
    "x=f32[4,4] parameter(0) ROOT p=f32[4,5] dot(x,x),lhs_contracting_dims={1},rhs_contracting_dims={0}"
  ),
  "dot dims": module(
    "x=f32[4,4] parameter(0) ROOT p=f32[4,4] dot(x,x),lhs_contracting_dims={2},rhs_contracting_dims={0}"
  ),
  "reduce init": module(
    "x=f32[4] parameter(0) z=f32[1] parameter(1) ROOT p=f32[] reduce(x,z),dimensions={0},to_apply=add", ADD
  ),
  "reduce dims": module(
    "x=f32[4] parameter(0) z=f32[] parameter(1) ROOT p=f32[] reduce(x,z),dimensions={1},to_apply=add", ADD
  ),
  "reduce types": module(
    "x=s32[4] parameter(0) z=s32[] parameter(1) ROOT p=s32[] reduce(x,z),dimensions={0},to_apply=add", ADD
  ),
  "reduce dup dims": module(
    "x=f32[4,4] parameter(0) z=f32[] parameter(1) ROOT p=f32[] reduce(x,z),dimensions={0,0},to_apply=add", ADD
  ),
  "map": module("x=f32[4] parameter(0) ROOT p=f32[4] map(x),dimensions={0},to_apply=add", ADD),
  "sort cmp": module("x=f32[4] parameter(0) ROOT p=f32[4] sort(x),dimensions={0},to_apply=add", ADD),
  "sort dim": module(
    "x=f32[4] parameter(0) ROOT p=f32[4] sort(x),dimensions={1},to_apply=lt",
    "lt { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = pred[] compare(a,b),direction=LT }",
  ),
  "while cond": module("x=f32[4] parameter(0) ROOT w=f32[4] while(x),condition=f,body=f", NEGATE),
  "while body": module(
    "x=f32[4] parameter(0) ROOT w=f32[4] while(x),condition=c,body=g",
    NEGATE + "c { p = f32[4] parameter(0)\n ROOT r = pred[] constant(true) }",
  ),
  "fusion extra operand": module("x=f32[4] parameter(0) ROOT c=f32[4] fusion(x,x),kind=kLoop,calls=f", NEGATE),
  "fusion fewer": module("x=f32[4] parameter(0) ROOT c=f32[] fusion(x),kind=kLoop,calls=add", ADD),
  "bitcast size": module("x=f32[4] parameter(0) ROOT c=f32[5] bitcast(x)"),
  "bitcast-convert": module("x=f32[4] parameter(0) ROOT c=s64[4] bitcast-convert(x)"),
  "convert shape": module("x=f32[4] parameter(0) ROOT c=s32[5] convert(x)"),
  "reverse dim": module("x=f32[4] parameter(0) ROOT c=f32[4] reverse(x),dimensions={1}"),
  "reverse dup": module("x=f32[4] parameter(0) ROOT c=f32[4] reverse(x),dimensions={0,0}"),
  "complex": module("x=s32[4] parameter(0) ROOT c=c64[4] complex(x,x)"),
  "real": module("x=c64[4] parameter(0) ROOT c=f64[4] real(x)"),
  "ar not enough": module(
    "x=f32[4] parameter(0) ROOT c=f32[4] all-reduce(x),replica_groups={{0,1}},to_apply=add", ADD, FOUR
  ),
  "ar too many": module(
    "x=f32[4] parameter(0) ROOT c=f32[4] all-reduce(x),replica_groups={{0,1,2,3,4}},to_apply=add", ADD, FOUR
  ),
  "ar empty group": module(
    "x=f32[4] parameter(0) ROOT c=f32[4] all-reduce(x),replica_groups={{0,1,2,3},{}},to_apply=add", ADD, FOUR
  ),
  "ar crossrep+part ids": module(
    "x=f32[4] parameter(0) ROOT c=f32[4] all-reduce(x),channel_id=1,replica_groups={{0,1,2,3,4,5,6,7}},to_apply=add",
    ADD,
    ", replica_count=4, num_partitions=2",
  ),
  "ar flat missing": module(
    "x=f32[4] parameter(0) ROOT c=f32[4] all-reduce(x),channel_id=1,replica_groups={{0,1,2,3}},use_global_device_ids=true,to_apply=add",
    ADD,
    ", replica_count=4, num_partitions=2",
  ),
  "ar shape": module("x=f32[4] parameter(0) ROOT c=f32[5] all-reduce(x),replica_groups={},to_apply=add", ADD, FOUR),
  "a2a group vs operands": module(
    "x=f32[4] parameter(0) ROOT c=(f32[4],f32[4]) all-to-all(x,x),replica_groups={{0,1,2,3}}", "", FOUR
  ),
  "a2a divisible": module(
    "x=f32[6] parameter(0) ROOT c=f32[6] all-to-all(x),replica_groups={{0,1,2,3}},dimensions={0}", "", FOUR
  ),
  "cp dup src": module(
    "x=f32[4] parameter(0) ROOT c=f32[4] collective-permute(x),source_target_pairs={{0,1},{0,2}}", "", FOUR
  ),
  "cp dup target": module(
    "x=f32[4] parameter(0) ROOT c=f32[4] collective-permute(x),source_target_pairs={{0,2},{1,2}}", "", FOUR
  ),
  "cp oob": module("x=f32[4] parameter(0) ROOT c=f32[4] collective-permute(x),source_target_pairs={{0,7}}", "", FOUR),
  "cp shape": module("x=f32[4] parameter(0) ROOT c=f32[5] collective-permute(x),source_target_pairs={{0,1}}", "", FOUR),
  "rs non uniform": module(
    "x=f32[8] parameter(0) ROOT c=f32[2] reduce-scatter(x),replica_groups={{0,1,2},{3}},dimensions={0},to_apply=add",
    ADD,
    FOUR,
  ),
  "ags shape": module(
    "x=f32[4] parameter(0) s=(f32[4],f32[8]) all-gather-start(x),replica_groups={{0,1,2,3}},dimensions={0} "
    "ROOT d=f32[8] all-gather-done(s)",
    "",
    FOUR,
  ),
  "ar start two dones": module(
    "x=f32[4] parameter(0) s=f32[4] all-reduce-start(x),replica_groups={},to_apply=add d=f32[4] all-reduce-done(s) "
    "e=f32[4] all-reduce-done(s) ROOT t=(f32[4],f32[4]) tuple(d,e)",
    ADD,
    FOUR,
  ),
  "start without done": module(
    "x=f32[4] parameter(0) s=f32[4] all-reduce-start(x),replica_groups={},to_apply=add ROOT t=f32[4] negate(x)",
    ADD,
    FOUR,
  ),
  "done of non start": module("x=f32[4] parameter(0) ROOT d=f32[4] all-reduce-done(x)", ADD, FOUR),
  "copy-done": module("x=f32[4] parameter(0) ROOT d=f32[4] copy-done(x)"),
  "copy-start shape": module("x=f32[4] parameter(0) s=(f32[5],f32[4],u32[]) copy-start(x) ROOT d=f32[5] copy-done(s)"),
  "async wrapped": module(
    "x=f32[4] parameter(0) s=((f32[4]),f32[5],s32[]) async-start(x),calls=f ROOT d=f32[5] async-done(s)", NEGATE
  ),
  "infeed": module("x=f32[4] parameter(0) ROOT i=(f32[4],token[]) infeed(x)"),
  "send token": module("x=f32[4] parameter(0) ROOT s=(f32[4],u32[],token[]) send(x,x),channel_id=1"),
  "recv-done of send": module(
    "x=f32[4] parameter(0) t=token[] after-all() s=(f32[4],u32[],token[]) send(x,t),channel_id=1 "
    "ROOT d=(f32[4],token[]) recv-done(s),channel_id=1"
  ),
  "alias oob": module(
    "x=f32[4] parameter(0) ROOT y=f32[4] negate(x)", "", ", input_output_alias={ {}: (1, {}, may-alias) }"
  ),
  "alias shape": module(
    "x=f32[5] parameter(0) z=f32[4] slice(x),slice={[0:4]} ROOT y=f32[4] negate(z)",
    "",
    ", input_output_alias={ {}: (0, {}, may-alias) }",
  ),
  "gather": module(
    "x=f32[4,4] parameter(0) i=s32[2,1] parameter(1) "
    "ROOT g=f32[2,3] gather(x,i),offset_dims={1},collapsed_slice_dims={0},start_index_map={0},index_vector_dim=1,slice_sizes={1,4}"
  ),
  "scatter": module(
    "x=f32[4] parameter(0) i=s32[2,1] parameter(1) u=f32[3] parameter(2) "
    "ROOT g=f32[4] scatter(x,i,u),update_window_dims={},inserted_window_dims={0},scatter_dims_to_operand_dims={0},"
    "index_vector_dim=1,to_apply=add",
    ADD,
  ),
  "conv": module(
    "x=f32[2,8,8,3] parameter(0) k=f32[3,3,4,5] parameter(1) "
    "ROOT c=f32[2,6,6,5] convolution(x,k),window={size=3x3},dim_labels=b01f_01io->b01f"
  ),
  "reduce-window": module(
    "x=f32[8] parameter(0) z=f32[] constant(0) ROOT c=f32[7] reduce-window(x,z),window={size=3},to_apply=add", ADD
  ),
  "fft": module("x=f32[8] parameter(0) ROOT c=c64[8] fft(x),fft_type=RFFT,fft_length={8}"),
  "cholesky": module("x=f32[3,4] parameter(0) ROOT c=f32[3,4] cholesky(x),lower=true"),
  "reduce-precision": module(
    "x=s32[4] parameter(0) ROOT c=s32[4] reduce-precision(x),exponent_bits=5,mantissa_bits=10"
  ),
  "opt-barrier": module("x=f32[4] parameter(0) ROOT c=f32[5] opt-barrier(x)"),
  "get-dim-size": module("x=f32[4] parameter(0) ROOT c=s32[] get-dimension-size(x),dimensions={1}"),
  "topk": module("x=f32[4] parameter(0) ROOT c=(f32[2],s32[3]) topk(x),k=2,largest=true"),
  "exp int": module("x=s32[4] parameter(0) ROOT c=s32[4] exponential(x)"),
  "not f32": module("x=f32[4] parameter(0) ROOT c=f32[4] not(x)"),
  "and f32": module("x=f32[4] parameter(0) ROOT c=f32[4] and(x,x)"),
  "shift f32": module("x=f32[4] parameter(0) ROOT c=f32[4] shift-left(x,x)"),
  "is-finite": module("x=f32[4] parameter(0) ROOT c=f32[4] is-finite(x)"),
  "popcnt f": module("x=f32[4] parameter(0) ROOT c=f32[4] popcnt(x)"),
  "atan2 int": module("x=s32[4] parameter(0) ROOT c=s32[4] atan2(x,x)"),
  "rng algorithm": module(
    "s=u64[2] parameter(0) ROOT r=(u64[2],u32[4]) rng-bit-generator(s),algorithm=rng_threefry",
  ),
  "rng distribution": module("l=f32[] constant(0) ROOT r=f32[4] rng(l,l),distribution=rng_gamma"),
  "fft type": module("x=c64[4] parameter(0) ROOT r=c64[4] fft(x),fft_type=DCT,fft_length={4}"),
  "fusion kind": module("x=f32[4] parameter(0) ROOT c=f32[4] fusion(x),kind=kAny,calls=f", NEGATE),
  "infeed without token": module("t=token[] after-all() ROOT c=f32[4] infeed(t)"),
  "partition-id type": module("ROOT c=s32[] partition-id()"),
  "collective-broadcast dup": module(
    "x=f32[4] parameter(0) ROOT c=f32[4] collective-broadcast(x),replica_groups={{0,1},{1,2}}", "", FOUR
  ),
}
ACCEPTED = {
  "neg pad": module("x=f32[4] parameter(0) c=f32[] constant(0) ROOT p=f32[2] pad(x,c),padding=-1_-1"),
  "slice empty": module("x=f32[4] parameter(0) ROOT p=f32[0] slice(x),slice={[2:2]}"),
  "mixed add": module("x=f32[4] parameter(0) y=bf16[4] parameter(1) ROOT p=f32[4] multiply(x,x)"),
  "dot mixed": module(
    "x=bf16[4,4] parameter(0) y=f32[4,4] parameter(1) ROOT p=f32[4,4] dot(x,y),lhs_contracting_dims={1},rhs_contracting_dims={0}"
  ),
  "dot s8": module("x=s8[4,4] parameter(0) ROOT p=s32[4,4] dot(x,x),lhs_contracting_dims={1},rhs_contracting_dims={0}"),
  "select scalar pred": module("c=pred[] parameter(0) x=f32[4] parameter(1) ROOT p=f32[4] select(c,x,x)"),
  "clamp scalar": module("c=f32[] parameter(0) x=f32[4] parameter(1) ROOT p=f32[4] clamp(c,x,c)"),
  "cond tuple": module(
    "p=pred[] parameter(0) x=f32[4] parameter(1) ROOT c=f32[4] conditional(p,x,x),true_computation=f,false_computation=f",
    NEGATE,
  ),
  "bitcast types": module("x=f32[4] parameter(0) ROOT c=s32[4] bitcast(x)"),
  "bitcast-convert widen": module("x=f32[4,2] parameter(0) ROOT c=s64[4] bitcast-convert(x)"),
  "cp self": module(
    "x=f32[4] parameter(0) ROOT c=f32[4] collective-permute(x),source_target_pairs={{0,0},{1,2}}", "", FOUR
  ),
  "ar 2 operands": module(
    "x=f32[4] parameter(0) y=f32[3] parameter(1) ROOT c=(f32[4],f32[3]) all-reduce(x,y),replica_groups={},to_apply=add",
    ADD,
    FOUR,
  ),
  "dynamic slice zero": module(
    "x=f32[4] parameter(0) i=s32[] constant(1) ROOT p=f32[0] dynamic-slice(x,i),dynamic_slice_sizes={0}"
  ),
  "rng uniform int": module("l=s32[] constant(0) h=s32[] constant(1) ROOT r=s32[4] rng(l,h),distribution=rng_uniform"),
  "reduce to bf16?": module(
    "x=f32[4] parameter(0) z=f32[] constant(0) ROOT r=f32[] reduce(x,z),dimensions={0},to_apply=add", ADD
  ),
  "iota unsorted": module("ROOT r=bf16[4,5] iota(),iota_dimension=1"),
  "abs complex": module("x=c64[4] parameter(0) ROOT c=f32[4] abs(x)"),
  "rng philox": module("s=u64[3] parameter(0) ROOT r=(u64[3],u32[4]) rng-bit-generator(s),algorithm=rng_philox"),
  "infeed": module("t=token[] after-all() ROOT c=(f32[4],token[]) infeed(t)"),
  "fusion": module("x=f32[4] parameter(0) ROOT c=f32[4] fusion(x),kind=kLoop,calls=f", NEGATE),
  "a broadcast that transposes": module("x=f32[3,3] parameter(0) ROOT p=f32[3,3] broadcast(x),dimensions={1,0}"),
  "a reducer of another type": module(
    "x=s32[4] parameter(0) ROOT c=s32[4] all-reduce(x),replica_groups={},to_apply=add", ADD, FOUR
  ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_operation_accepts_is_refused(name: str) -> None:
  found = hlo.parse(REFUSED[name])
  with pytest.raises(hlo.HloVerifyError):
    hlo.verify(found)


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_xla_accepts_is_legal(name: str) -> None:
  hlo.verify(hlo.parse(ACCEPTED[name]))
