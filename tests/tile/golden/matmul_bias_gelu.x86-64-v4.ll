; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".1", i64 -1
  %".7" = getelementptr i64, ptr %".2", i64 0
  %".8" = load i64, ptr %".7"
  %".9" = getelementptr i64, ptr %".2", i64 1
  %".10" = load i64, ptr %".9"
  %".11" = getelementptr i64, ptr %".2", i64 2
  %".12" = load i64, ptr %".11"
  %".13" = urem i64 %".4", %".12"
  %".14" = udiv i64 %".4", %".12"
  %".15" = urem i64 %".14", %".10"
  %".16" = udiv i64 %".14", %".10"
  %".17" = urem i64 %".16", %".8"
  %".18" = udiv i64 %".16", %".8"
  %".19" = getelementptr ptr, ptr %".1", i64 0
  %".20" = load ptr, ptr %".19"
  %".21" = getelementptr ptr, ptr %".1", i64 1
  %".22" = load ptr, ptr %".21"
  %".23" = getelementptr ptr, ptr %".1", i64 2
  %".24" = load ptr, ptr %".23"
  %".25" = getelementptr ptr, ptr %".1", i64 3
  %".26" = load ptr, ptr %".25"
  %".27" = trunc i64 %".17" to i32
  %".28" = trunc i64 %".15" to i32
  %".29" = trunc i64 %".13" to i32
  %".30" = trunc i64 %".8" to i32
  %".31" = trunc i64 %".10" to i32
  %".32" = trunc i64 %".12" to i32
  %".33" = trunc i64 %".17" to i32
  %".34" = trunc i64 %".15" to i32
  %".35" = trunc i64 %".13" to i32
  %".36" = sext i32 %".33" to i64
  %".37" = mul i64 %".36", 4
  %".38" = sext i32 %".35" to i64
  %".39" = mul i64 %".38", 8
  %".40" = mul i64 %".37", 8
  %".41" = add i64 %".40", %".39"
  %".42" = getelementptr float, ptr %".20", i64 %".41"
  %".43" = trunc i64 %".17" to i32
  %".44" = trunc i64 %".15" to i32
  %".45" = trunc i64 %".13" to i32
  %".46" = sext i32 %".45" to i64
  %".47" = mul i64 %".46", 8
  %".48" = sext i32 %".44" to i64
  %".49" = mul i64 %".48", 16
  %".50" = mul i64 %".47", 16
  %".51" = add i64 %".50", %".49"
  %".52" = getelementptr float, ptr %".22", i64 %".51"
  %".53" = trunc i64 %".17" to i32
  %".54" = trunc i64 %".15" to i32
  %".55" = trunc i64 %".13" to i32
  %".56" = sext i32 0 to i64
  %".57" = sext i32 %".54" to i64
  %".58" = mul i64 %".57", 16
  %".59" = mul i64 %".56", 16
  %".60" = add i64 %".59", %".58"
  %".61" = getelementptr float, ptr %".24", i64 %".60"
  %".62" = trunc i64 %".17" to i32
  %".63" = trunc i64 %".15" to i32
  %".64" = trunc i64 %".13" to i32
  %".65" = sext i32 %".62" to i64
  %".66" = mul i64 %".65", 4
  %".67" = sext i32 %".63" to i64
  %".68" = mul i64 %".67", 16
  %".69" = mul i64 %".66", 16
  %".70" = add i64 %".69", %".68"
  %".71" = getelementptr float, ptr %".26", i64 %".70"
  %".72" = getelementptr i8, ptr %".3", i64 0
  %".73" = getelementptr i8, ptr %".3", i64 1024
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".157", %"done.1"]
  %".75" = icmp slt i64 %"i", 16
  br i1 %".75", label %"body", label %"done"
body:
  br label %"k"
done:
  ret void
k:
  %".78" = phi  i64 [0, %"body"], [%".119", %"k.body"]
  %".79" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body"], [%".100", %"k.body"]
  %".80" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body"], [%".106", %"k.body"]
  %".81" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body"], [%".112", %"k.body"]
  %".82" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body"], [%".118", %"k.body"]
  %".83" = icmp slt i64 %".78", 8
  br i1 %".83", label %"k.body", label %"k.done"
k.body:
  %".85" = add i64 %".78", 32
  %".86" = icmp slt i64 %".85", 7
  %".87" = select  i1 %".86", i64 %".85", i64 7
  %".88" = mul i64 %".87", 16
  %".89" = add i64 %".88", %"i"
  %".90" = getelementptr inbounds float, ptr %".52", i64 %".89"
  call void @"llvm.prefetch.p0"(ptr %".90", i32 0, i32 3, i32 1)
  %".92" = mul i64 %".78", 16
  %".93" = add i64 %".92", %"i"
  %".94" = getelementptr inbounds float, ptr %".52", i64 %".93"
  %".95" = load <16 x float>, ptr %".94", align 4
  %".96" = getelementptr inbounds float, ptr %".42", i64 %".78"
  %".97" = load float, ptr %".96", align 4
  %".98" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".97", i32 0
  %".99" = shufflevector <16 x float> %".98", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".100" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".99", <16 x float> %".95", <16 x float> %".79")
  %".101" = add i64 8, %".78"
  %".102" = getelementptr inbounds float, ptr %".42", i64 %".101"
  %".103" = load float, ptr %".102", align 4
  %".104" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".103", i32 0
  %".105" = shufflevector <16 x float> %".104", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".106" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".105", <16 x float> %".95", <16 x float> %".80")
  %".107" = add i64 16, %".78"
  %".108" = getelementptr inbounds float, ptr %".42", i64 %".107"
  %".109" = load float, ptr %".108", align 4
  %".110" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".109", i32 0
  %".111" = shufflevector <16 x float> %".110", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".112" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".111", <16 x float> %".95", <16 x float> %".81")
  %".113" = add i64 24, %".78"
  %".114" = getelementptr inbounds float, ptr %".42", i64 %".113"
  %".115" = load float, ptr %".114", align 4
  %".116" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".115", i32 0
  %".117" = shufflevector <16 x float> %".116", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".118" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".117", <16 x float> %".95", <16 x float> %".82")
  %".119" = add i64 %".78", 1
  br label %"k"
k.done:
  %".121" = getelementptr inbounds float, ptr %".72", i64 0
  store <16 x float> %".79", ptr %".121", align 4
  %".123" = getelementptr inbounds float, ptr %".72", i64 64
  store <16 x float> %".80", ptr %".123", align 4
  %".125" = getelementptr inbounds float, ptr %".72", i64 128
  store <16 x float> %".81", ptr %".125", align 4
  %".127" = getelementptr inbounds float, ptr %".72", i64 192
  store <16 x float> %".82", ptr %".127", align 4
  br label %"loop.1"
loop.1:
  %"i.1" = phi  i64 [0, %"k.done"], [%".155", %"body.1"]
  %".130" = icmp slt i64 %"i.1", 4
  br i1 %".130", label %"body.1", label %"done.1"
body.1:
  %".132" = mul i64 %"i.1", 64
  %".133" = getelementptr inbounds float, ptr %".72", i64 %".132"
  %".134" = load <16 x float>, ptr %".133", align 4
  %".135" = getelementptr inbounds float, ptr %".61", i64 %"i"
  %".136" = load <16 x float>, ptr %".135", align 4
  %".137" = fadd <16 x float> %".134", %".136"
  %".138" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float 0x3fa2444f20000000, i32 0
  %".139" = shufflevector <16 x float> %".138", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".140" = fmul <16 x float> %".137", %".139"
  %".141" = fmul <16 x float> %".140", %".137"
  %".142" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float 0x3fe9884540000000, i32 0
  %".143" = shufflevector <16 x float> %".142", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".144" = fadd <16 x float> %".141", %".143"
  %".145" = fmul <16 x float> %".137", %".144"
  %".146" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float 0x4000000000000000, i32 0
  %".147" = shufflevector <16 x float> %".146", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".148" = fmul <16 x float> %".145", %".147"
  %".149" = call <16 x float> @"tilewright.logistic.v16f32"(<16 x float> %".148")
  %".150" = fmul <16 x float> %".137", %".149"
  %".151" = mul i64 %"i.1", 16
  %".152" = add i64 %".151", %"i"
  %".153" = getelementptr inbounds float, ptr %".71", i64 %".152"
  store <16 x float> %".150", ptr %".153", align 4
  %".155" = add i64 %"i.1", 1
  br label %"loop.1"
done.1:
  %".157" = add i64 %"i", 16
  br label %"loop"
}
