; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
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
  %"i" = phi  i64 [0, %"start"], [%".150", %"done.1"]
  %".75" = icmp slt i64 %"i", 16
  br i1 %".75", label %"body", label %"done"
body:
  br label %"k"
done:
  ret void
k:
  %".78" = phi  i64 [0, %"body"], [%".112", %"k.body"]
  %".79" = phi  <16 x float> [splat (float              0x0), %"body"], [%".93", %"k.body"]
  %".80" = phi  <16 x float> [splat (float              0x0), %"body"], [%".99", %"k.body"]
  %".81" = phi  <16 x float> [splat (float              0x0), %"body"], [%".105", %"k.body"]
  %".82" = phi  <16 x float> [splat (float              0x0), %"body"], [%".111", %"k.body"]
  %".83" = icmp slt i64 %".78", 8
  br i1 %".83", label %"k.body", label %"k.done"
k.body:
  %".85" = mul i64 %".78", 16
  %".86" = add i64 %".85", %"i"
  %".87" = getelementptr inbounds float, ptr %".52", i64 %".86"
  %".88" = load <16 x float>, ptr %".87", align 4
  %".89" = getelementptr inbounds float, ptr %".42", i64 %".78"
  %".90" = load float, ptr %".89", align 4
  %".91" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".90", i32 0
  %".92" = shufflevector <16 x float> %".91", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".93" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".92", <16 x float> %".88", <16 x float> %".79")
  %".94" = add i64 8, %".78"
  %".95" = getelementptr inbounds float, ptr %".42", i64 %".94"
  %".96" = load float, ptr %".95", align 4
  %".97" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".96", i32 0
  %".98" = shufflevector <16 x float> %".97", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".99" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".98", <16 x float> %".88", <16 x float> %".80")
  %".100" = add i64 16, %".78"
  %".101" = getelementptr inbounds float, ptr %".42", i64 %".100"
  %".102" = load float, ptr %".101", align 4
  %".103" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".102", i32 0
  %".104" = shufflevector <16 x float> %".103", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".105" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".104", <16 x float> %".88", <16 x float> %".81")
  %".106" = add i64 24, %".78"
  %".107" = getelementptr inbounds float, ptr %".42", i64 %".106"
  %".108" = load float, ptr %".107", align 4
  %".109" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".108", i32 0
  %".110" = shufflevector <16 x float> %".109", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".111" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".110", <16 x float> %".88", <16 x float> %".82")
  %".112" = add i64 %".78", 1
  br label %"k"
k.done:
  %".114" = getelementptr inbounds float, ptr %".72", i64 0
  store <16 x float> %".79", ptr %".114", align 4
  %".116" = getelementptr inbounds float, ptr %".72", i64 64
  store <16 x float> %".80", ptr %".116", align 4
  %".118" = getelementptr inbounds float, ptr %".72", i64 128
  store <16 x float> %".81", ptr %".118", align 4
  %".120" = getelementptr inbounds float, ptr %".72", i64 192
  store <16 x float> %".82", ptr %".120", align 4
  br label %"loop.1"
loop.1:
  %"i.1" = phi  i64 [0, %"k.done"], [%".148", %"body.1"]
  %".123" = icmp slt i64 %"i.1", 4
  br i1 %".123", label %"body.1", label %"done.1"
body.1:
  %".125" = mul i64 %"i.1", 64
  %".126" = getelementptr inbounds float, ptr %".72", i64 %".125"
  %".127" = load <16 x float>, ptr %".126", align 4
  %".128" = getelementptr inbounds float, ptr %".61", i64 %"i"
  %".129" = load <16 x float>, ptr %".128", align 4
  %".130" = fadd <16 x float> %".127", %".129"
  %".131" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float 0x3fa2444f20000000, i32 0
  %".132" = shufflevector <16 x float> %".131", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".133" = fmul <16 x float> %".130", %".132"
  %".134" = fmul <16 x float> %".133", %".130"
  %".135" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float 0x3fe9884540000000, i32 0
  %".136" = shufflevector <16 x float> %".135", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".137" = fadd <16 x float> %".134", %".136"
  %".138" = fmul <16 x float> %".130", %".137"
  %".139" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float 0x4000000000000000, i32 0
  %".140" = shufflevector <16 x float> %".139", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".141" = fmul <16 x float> %".138", %".140"
  %".142" = call <16 x float> @"tilewright.logistic.v16f32"(<16 x float> %".141")
  %".143" = fmul <16 x float> %".130", %".142"
  %".144" = mul i64 %"i.1", 16
  %".145" = add i64 %".144", %"i"
  %".146" = getelementptr inbounds float, ptr %".71", i64 %".145"
  store <16 x float> %".143", ptr %".146", align 4
  %".148" = add i64 %"i.1", 1
  br label %"loop.1"
done.1:
  %".150" = add i64 %"i", 16
  br label %"loop"
}
